// Digests of what the authority has met: keys of its caches, and what its records name texts by. The only place that
// says which digest that is.
import { hash } from 'node:crypto';

/**
 * The SHA-256 digest of a text (as UTF-8) or of bytes, in hexadecimal; '' would be a digest of nothing. Cost: some us
 * for 5 kB.
 */
export function digestOf(content: string | Uint8Array): string {
  return hash('sha256', content);
}
