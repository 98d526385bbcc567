// What the first bytes of a file give away: files that are not NDJSON at all, where faults line by line would hide what
// is the matter. Judges nothing that a line could be blamed for.
import { OperationError } from '../operationError.ts';

const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const NEWLINE = 0x0a;

/**
 * Throws OperationError `input` with the cure for a file that begins with a byte order mark, as UTF-16 does, or is one
 * JSON text over many lines. `start` is what was read of it first. Cost: its blanks.
 */
export function assertNdjson(file: string, start: Uint8Array): void {
  const fault = faultOf(start);
  if (fault !== undefined) throw new OperationError('input', `${file}:1: ${fault}`);
}

function faultOf(start: Uint8Array): string | undefined {
  const [first, second, third] = start;
  if (first === 0xef && second === 0xbb && third === 0xbf) {
    return 'the file begins with a byte order mark: save it as UTF-8 without one';
  }
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    return 'the file looks like UTF-16: save it as UTF-8, without a byte order mark';
  }
  const at = start.findIndex((byte) => !isBlank(byte));
  if (start[at] === OPEN_BRACKET) return noNdjson('a JSON array', "jq -c '.[]'");
  if (start[at] !== OPEN_BRACE) return undefined;
  const next = start.subarray(at + 1).find((byte) => byte === NEWLINE || !isBlank(byte));
  return next === NEWLINE ? noNdjson('JSON in many lines', 'jq -c .') : undefined;
}

function noNdjson(what: string, cure: string): string {
  return `the file is ${what} and not one record a line: ${cure} makes NDJSON of it`;
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === NEWLINE || byte === 0x0d;
}
