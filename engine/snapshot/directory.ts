// The FlatBuffers directory of a snapshot: name, offset, checksum, digest and element width of every section. See
// format.fbs. It is read only when a snapshot is opened, never per row.
import { Builder, ByteBuffer, type Offset } from 'flatbuffers';
import { COLLECTIONS } from '../schema/catalogue.ts';
import { layoutOf } from '../schema/layout.ts';
import { computeChecksum } from '../bits/checksum.ts';
import { type Header, HEADER_BYTES, paddedBytes, type Refusal } from './header.ts';

const IDENTIFIER = 'CATD';

const DIGEST = /^[\da-f]{64}$/;
const DIGEST_CHARACTERS = 64;

/** The minimum bytes of a section in the directory, without its texts. */
const SECTION_BYTES = 40;

/** Bytes per element of a section. */
export type Width = 1 | 2 | 4 | 8;

/** One section of a file. */
export interface Section {
  /** From the start of the file. */
  readonly name: string;
  /** Length without the zero padding to the next multiple of 64. Checksum and digest include the padding. */
  readonly offset: number;
  readonly bytes: number;
  /** SHA-256 in lower-case hexadecimal. */
  readonly checksum: number;
  readonly digest: string;
  readonly width: Width;
}

export interface Directory {
  /** The hash of the declaration that the sections follow (`schemaHash`). */
  readonly schema: string;
  /** The data time, if known. */
  readonly created: string | undefined;
  /** In file order. */
  readonly sections: readonly Section[];
}

/**
 * The hash of the columns and tables that follow from the declaration. Code reads only snapshots with its own hash.
 * Descriptions, documented values and filters may change without a new import. Cost: microseconds.
 */
export function schemaHash(): string {
  const layouts = COLLECTIONS.map((collection) => layoutOf(collection)).map(({ columns, tables, members }) => ({
    columns,
    tables,
    members,
  }));
  return computeChecksum(new TextEncoder().encode(JSON.stringify(layouts)))
    .toString(16)
    .padStart(8, '0');
}

/** Encodes the directory. The same directory always gives the same bytes. */
export function encodeDirectory(directory: Directory): Uint8Array {
  const builder = new Builder(directory.sections.length * 176 + 256);
  const sections = directory.sections.map((section) => encodeSection(builder, section));
  builder.startVector(4, sections.length, 4);
  for (let i = sections.length - 1; i >= 0; i--) builder.addOffset(sections[i]!);
  const vector = builder.endVector();
  const created = directory.created === undefined ? 0 : builder.createString(directory.created);
  const schema = builder.createString(directory.schema);
  builder.startObject(3);
  builder.addFieldOffset(0, schema, 0);
  builder.addFieldOffset(1, created, 0);
  builder.addFieldOffset(2, vector, 0);
  builder.finish(builder.endObject(), IDENTIFIER);
  return builder.asUint8Array();
}

/**
 * Returns the directory of a file with this header, or why it is refused. Checks checksum, identifier, schema and
 * tiling.
 */
export function decodeDirectory(bytes: Uint8Array, header: Header): Directory | Refusal {
  const computed = computeChecksum(bytes);
  if (computed !== header.directoryChecksum) {
    return {
      refusal: `directory checksum ${computed.toString(16)}, expected ${header.directoryChecksum.toString(16)}`,
    };
  }
  const buffer = new ByteBuffer(bytes);
  if (!buffer.__has_identifier(IDENTIFIER)) return { refusal: `directory without the identifier ${IDENTIFIER}` };
  const root = buffer.readInt32(0);
  const schema = stringField(buffer, root, 0) ?? '';
  if (schema !== schemaHash()) {
    return { refusal: `made for schema ${schema}, this version reads ${schemaHash()}: import the data set again` };
  }
  const sections = readSections(buffer, root);
  if (!sections) return { refusal: `directory of ${bytes.length} bytes that lists more than it holds` };
  return checkTiling(sections, header) ?? { schema, created: stringField(buffer, root, 1), sections };
}

function encodeSection(builder: Builder, section: Section): Offset {
  const name = builder.createString(section.name);
  const digest = builder.createString(section.digest);
  builder.startObject(6);
  builder.addFieldInt64(1, BigInt(section.offset), 0n);
  builder.addFieldInt64(2, BigInt(section.bytes), 0n);
  builder.addFieldOffset(0, name, 0);
  builder.addFieldInt32(3, section.checksum | 0, 0);
  builder.addFieldInt8(4, section.width, 0);
  builder.addFieldOffset(5, digest, 0);
  return builder.endObject();
}

/**
 * Returns the sections, or undefined if they and their texts would be larger than the directory. In a forged directory,
 * many entries may point to one table, and many tables to one text.
 */
function readSections(buffer: ByteBuffer, root: number): readonly Section[] | undefined {
  const at = fieldAt(buffer, root, 2);
  if (at === 0) return [];
  const vector = buffer.__vector(at);
  const sections: Section[] = [];
  const length = buffer.__vector_len(at);
  let bytesLeft = buffer.capacity();
  for (let i = 0; i < length; i++) {
    const table = buffer.__indirect(vector + i * 4);
    const name = stringField(buffer, table, 0) ?? '';
    const digest = stringField(buffer, table, 5) ?? '';
    bytesLeft -= name.length + Math.max(digest.length, DIGEST_CHARACTERS) + SECTION_BYTES;
    if (bytesLeft < 0) return undefined;
    sections.push({
      name,
      offset: Number(longField(buffer, table, 1)),
      bytes: Number(longField(buffer, table, 2)),
      checksum: numberField(buffer, table, 3) >>> 0,
      digest,
      width: byteField(buffer, table, 4) as Width,
    });
  }
  return sections;
}

/**
 * Why the sections do not tile the file. Each must follow the previous one without a gap, or share the place of an
 * earlier one. Then a checksum covers every byte of the file.
 */
function checkTiling(sections: readonly Section[], header: Header): Refusal | undefined {
  const placed = new Map<number, Section>();
  let end = HEADER_BYTES;
  for (const section of sections) {
    if (![1, 2, 4, 8].includes(section.width) || section.bytes % section.width !== 0) {
      return { refusal: `section ${section.name}: ${section.bytes} bytes in elements of ${section.width}` };
    }
    if (!DIGEST.test(section.digest)) {
      const actual = `a digest of ${section.digest.length} characters`;
      return { refusal: `section ${section.name}: ${actual}, expected 64 hexadecimal digits` };
    }
    const shared = section.bytes > 0 ? placed.get(section.offset) : undefined;
    if (shared) {
      if (shared.bytes === section.bytes && shared.digest === section.digest && shared.checksum === section.checksum)
        continue;
      return { refusal: `section ${section.name} at the place of ${shared.name}, which is another` };
    }
    if (section.offset !== end) return { refusal: `section ${section.name} at ${section.offset}, expected ${end}` };
    if (section.bytes > 0) placed.set(section.offset, section);
    end += paddedBytes(section.bytes);
  }
  if (end !== header.directoryOffset)
    return { refusal: `sections end at ${end}, directory at ${header.directoryOffset}` };
  return undefined;
}

function fieldAt(buffer: ByteBuffer, table: number, field: number): number {
  const offset = buffer.__offset(table, 4 + field * 2);
  return offset === 0 ? 0 : table + offset;
}

function stringField(buffer: ByteBuffer, table: number, field: number): string | undefined {
  const at = fieldAt(buffer, table, field);
  return at === 0 ? undefined : String(buffer.__string(at));
}

function longField(buffer: ByteBuffer, table: number, field: number): bigint {
  const at = fieldAt(buffer, table, field);
  return at === 0 ? 0n : buffer.readUint64(at);
}

function numberField(buffer: ByteBuffer, table: number, field: number): number {
  const at = fieldAt(buffer, table, field);
  return at === 0 ? 0 : buffer.readInt32(at);
}

function byteField(buffer: ByteBuffer, table: number, field: number): number {
  const at = fieldAt(buffer, table, field);
  return at === 0 ? 0 : buffer.readInt8(at);
}
