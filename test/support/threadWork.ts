import type { BenchAuthority } from '../../bench/authority/authorityFiles.ts';
import { checkCall } from '../../bench/authority/callCheck.ts';
import { CALL_SCENARIOS } from '../../bench/authority/callScenarios.ts';
import type { ThreadKind } from '../../server/observe/events.ts';
import { statusOf } from './client.ts';
import { type Server } from './commandProcess.ts';

const SIGNED = CALL_SCENARIOS.map(({ call }) => call).find(({ operation }) => operation === 'reqAuthorisation')!;

/** A list that runs in the pool, another one for each `i`. */
export function heavyPathOf(i: number): string {
  return `/api/v3/observations/?abstract__iregex=a.*b.*c.*d${i}.*e`;
}

/** Whether a kind of thread does its work, as seen by a client of the public port. Pass a new `i` for each call. */
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
