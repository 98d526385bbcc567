// What each kind of thread of a server is for, asked as a client asks for it: how a test sees that one works again.
// Over the public port only.
import type { BenchAuthority } from '../../bench/authority/authorityFiles.ts';
import { checkCall } from '../../bench/authority/callCheck.ts';
import { CALL_SCENARIOS } from '../../bench/authority/callScenarios.ts';
import type { ThreadKind } from '../../server/observe/events.ts';
import { statusOf } from './client.ts';
import { type Server } from './commandProcess.ts';

const SIGNED = CALL_SCENARIOS.map(({ call }) => call).find(({ operation }) => operation === 'reqAuthorisation')!;

/** What is for the pool; another one for each `i`. */
export function heavyPathOf(i: number): string {
  return `/api/v3/observations/?abstract__iregex=a.*b.*c.*d${i}.*e`;
}

/** Whether a server does what a kind of thread is for; for the `i`-th time of that kind. */
export async function isAtWork(
  kind: ThreadKind,
  { url, port }: Pick<Server, 'url' | 'port'>,
  authority: BenchAuthority,
  i: number,
): Promise<boolean> {
  if (kind === 'pool') return (await statusOf(url, heavyPathOf(i))) === 200;
  return checkCall(port, SIGNED, authority).then(
    () => true,
    () => false,
  );
}
