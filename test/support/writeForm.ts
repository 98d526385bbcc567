// Writes formDigests.json, the bytes of answers: `npm run form`, after the form version was raised or a request was
// added. Refuses where bytes changed under the same version: caches would keep the old ones for good.
import { existsSync, writeFileSync } from 'node:fs';
import { changedForms, FORM_FILE, formDigests, rememberedDigests } from './formDigests.ts';

const now = await formDigests();
const changed = existsSync(FORM_FILE) ? changedForms(rememberedDigests(), now) : [];
if (changed.length > 0) {
  const first = changed.slice(0, 10).join('\n  ');
  throw new Error(`raise FORM_VERSION in server/catalogue/conditional.ts: other bytes for\n  ${first}`);
}
writeFileSync(FORM_FILE, `${JSON.stringify(now, undefined, 2)}\n`);
