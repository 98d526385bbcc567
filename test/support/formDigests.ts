// Digests of the bytes of responses, under the form version that is part of their tags. Compressed bodies are digested
// uncompressed. `npm run form` runs this file and writes formDigests.json: run it after you raise the form version or
// add a request. It refuses if bytes changed under the same version, because caches would keep the old ones.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { FORM_VERSION } from '../../server/catalogue/conditional.ts';
import { FORM_REQUESTS, formHandler, plainBytesOf } from './formCatalogue.ts';
import { requestOf, STAYING } from './requests.ts';

/** Digests by request and settings, under a form version. */
export interface FormDigests {
  readonly version: number;
  readonly digests: Readonly<Record<string, string>>;
}

const FORM_FILE = new URL('formDigests.json', import.meta.url);

const DIGITS = 16;
const VARIANTS = [{}, { links: 'request', pinWalks: true }, { limitMax: 2, gzip: 'live' }] as const;

/** The digests of the current code. */
export async function formDigests(): Promise<FormDigests> {
  const digests: Record<string, string> = {};
  for (const settings of VARIANTS) {
    const handler = formHandler(settings);
    for (const request of FORM_REQUESTS) {
      // Live compression within one turn of the event loop is bounded.
      await setImmediate();
      const answer = await handler(requestOf(request), STAYING);
      if (answer.status !== 200) continue;
      const type = answer.headers.find(([name]) => name === 'Content-Type')?.[1] ?? '';
      const hash = createHash('sha256').update(`${type}\n`).update(plainBytesOf(answer).toString('latin1'));
      digests[`${JSON.stringify(settings)} ${JSON.stringify(request)}`] = hash.digest('hex').slice(0, DIGITS);
    }
  }
  return { version: FORM_VERSION, digests };
}

/** The digests in the file. */
export function rememberedDigests(): FormDigests {
  return JSON.parse(readFileSync(FORM_FILE, 'utf8')) as FormDigests;
}

/** The requests whose bytes changed under the same form version: one tag would stand for two bodies. */
export function changedForms(before: FormDigests, now: FormDigests): readonly string[] {
  if (before.version !== now.version) return [];
  return Object.keys(before.digests).filter((request) => (now.digests[request] ?? '') !== before.digests[request]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const now = await formDigests();
  const changed = changedForms(rememberedDigests(), now);
  if (changed.length > 0) {
    const first = changed.slice(0, 10).join('\n  ');
    throw new Error(`raise FORM_VERSION in server/catalogue/conditional.ts: other bytes for\n  ${first}`);
  }
  writeFileSync(FORM_FILE, `${JSON.stringify(now, undefined, 2)}\n`);
}
