// Ids of requests that brought none: random, so that no two logs of any servers share one. The one file of the server
// that draws them.
import { randomBytes } from 'node:crypto';

const ID_BYTES = 16;
const ID_DIGITS = 2 * ID_BYTES;
/** Random bytes are drawn for so many ids at once: one draw takes 2 us, however long it is. */
const IDS_DRAWN = 256;

let drawn = '';
let used = 0;

/** An id of 32 hexadecimal digits. */
export function newRequestId(): string {
  if (used === drawn.length) {
    drawn = randomBytes(ID_BYTES * IDS_DRAWN).toString('hex');
    used = 0;
  }
  used += ID_DIGITS;
  return drawn.slice(used - ID_DIGITS, used);
}
