// The first 128 bytes of a snapshot file: magic, version, length and position of the directory. See FORMAT.md. Pure
// encoding and checking of bytes. Every refusal says what was found and what was expected.
import { computeChecksum } from '../bits/checksum.ts';

/** Bytes of the header, and start of the first section. */
export const HEADER_BYTES = 128;

/**
 * Longer directories are neither written nor read: 1,000 undeclared keys of a collection with long names take 42 MB.
 */
export const DIRECTORY_BYTES_MAX = 256 << 20;

/** Every section starts at a multiple of this many bytes, so that any typed array can view it. */
export const ALIGNMENT = 64;

/** The bytes of a section in the file, with its padding. */
export function paddedBytes(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
}

/** The version of the file format that this code writes and reads. */
export const FORMAT_VERSION = 7;

// Like PNG's: a high bit, the name, both line ends and Ctrl-Z, so that transfers in text mode are detected at once.
const MAGIC = Uint8Array.of(0x89, 0x43, 0x41, 0x54, 0x0d, 0x0a, 0x1a, 0x0a);

/** The fields of the header, in addition to magic and version. */
export interface Header {
  readonly fileBytes: number;
  readonly directoryOffset: number;
  readonly directoryBytes: number;
  readonly directoryChecksum: number;
}

/** Why a file is not a snapshot that can be served: one sentence with what was found and what was expected. */
export interface Refusal {
  readonly refusal: string;
}

export function isRefusal(result: object): result is Refusal {
  return 'refusal' in result;
}

/** The header of a file that ends with this directory. Cost: a pass over the directory. */
export function encodeHeader(directoryOffset: number, directory: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES);
  const view = new DataView(bytes.buffer);
  bytes.set(MAGIC, 0);
  view.setUint32(8, FORMAT_VERSION, true);
  view.setUint32(12, HEADER_BYTES, true);
  view.setBigUint64(16, BigInt(directoryOffset + directory.length), true);
  view.setBigUint64(24, BigInt(directoryOffset), true);
  view.setBigUint64(32, BigInt(directory.length), true);
  view.setUint32(40, computeChecksum(directory), true);
  view.setUint32(44, ALIGNMENT, true);
  view.setUint32(124, computeChecksum(bytes.subarray(0, 124)), true);
  return bytes;
}

/**
 * Returns the header of a file of `fileBytes` bytes, or why it is refused. Checks magic, version, checksum, length,
 * alignment, bounds and unused bytes, in that order.
 */
export function decodeHeader(bytes: Uint8Array, fileBytes: number): Header | Refusal {
  if (bytes.length < HEADER_BYTES) return { refusal: `file has ${bytes.length} bytes, a header takes ${HEADER_BYTES}` };
  if (MAGIC.some((byte, i) => bytes[i] !== byte)) {
    return { refusal: `not a snapshot: it starts with ${hex(bytes.subarray(0, 8))}, expected ${hex(MAGIC)}` };
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES);
  const version = view.getUint32(8, true);
  if (version !== FORMAT_VERSION) {
    const cure = version < FORMAT_VERSION ? 'import the data set again' : 'read it with a newer version';
    return { refusal: `format version ${version}, this version reads ${FORMAT_VERSION}: ${cure}` };
  }
  const stored = view.getUint32(124, true);
  const computed = computeChecksum(bytes.slice(0, 124));
  if (stored !== computed)
    return { refusal: `header checksum ${computed.toString(16)}, expected ${stored.toString(16)}` };
  return checkBounds(view, bytes, fileBytes);
}

function checkBounds(view: DataView, bytes: Uint8Array, actualBytes: number): Header | Refusal {
  const fileBytes = Number(view.getBigUint64(16, true));
  const directoryOffset = Number(view.getBigUint64(24, true));
  const directoryBytes = Number(view.getBigUint64(32, true));
  if (directoryBytes > DIRECTORY_BYTES_MAX) {
    return { refusal: `directory of ${directoryBytes} bytes, at most ${DIRECTORY_BYTES_MAX} are read` };
  }
  if (fileBytes !== actualBytes) return { refusal: `file has ${actualBytes} bytes, expected ${fileBytes}` };
  if (view.getUint32(12, true) !== HEADER_BYTES || view.getUint32(44, true) !== ALIGNMENT) {
    return { refusal: `header of ${view.getUint32(12, true)} bytes aligned to ${view.getUint32(44, true)}` };
  }
  if (directoryOffset % ALIGNMENT !== 0 || directoryOffset + directoryBytes !== fileBytes) {
    return {
      refusal: `directory at ${directoryOffset} of ${directoryBytes} bytes does not end a file of ${fileBytes}`,
    };
  }
  const unused = bytes.subarray(48, 124).findIndex((byte) => byte !== 0);
  if (unused >= 0) return { refusal: `header byte ${48 + unused} is ${bytes[48 + unused]}, expected 0` };
  const directoryChecksum = view.getUint32(40, true);
  return { fileBytes, directoryOffset, directoryBytes, directoryChecksum };
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(' ');
}
