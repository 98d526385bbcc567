// Decodes lines for tests and reads batches back as plain texts: records, own URLs and column values. Slow and obvious.
// It knows the form of a batch (data/import/batch.ts), but not how the product makes it.
import { expect } from 'vitest';
import { type Batch, type DecodedTexts, NULL_NUMBER } from '../../data/import/batch.ts';
import { decodeLines, makeDecoder, type DecoderOptions } from '../../data/import/decode.ts';
import { collectionNamed } from '../../engine/schema/catalogue.ts';
import { layoutOf } from '../../engine/schema/layout.ts';

/** A batch with the texts that its codes refer to. */
export interface DecodedBatch extends Batch {
  readonly texts: readonly DecodedTexts[];
}

/** The batch of one collection's lines, numbered from 1. */
export function decode(collection: string, ...lines: (string | Uint8Array)[]): DecodedBatch {
  return decodeAs(collection, {}, ...lines);
}

/** The same for a decoder with these options. */
export function decodeAs(collection: string, options: DecoderOptions, ...lines: (string | Uint8Array)[]): DecodedBatch {
  const bytes = Buffer.concat(lines.flatMap((line) => [Buffer.from(line), Buffer.from('\n')]));
  const decoder = makeDecoder(collection, options);
  const batch = decodeLines(decoder, { bytes, firstLine: 1, fileBytesRead: bytes.length });
  return { ...batch, texts: decoder.finish() };
}

function textOf({ texts }: DecodedBatch, path: string, number: number): string | null {
  if (number === NULL_NUMBER) return null;
  const { bytes, ends } = texts.find((one) => one.path === path)!.texts;
  return Buffer.from(bytes.subarray(number === 0 ? 0 : ends[number - 1]!, ends[number])).toString();
}

export function served({ bytes, recordEnds }: Batch): string[] {
  return Array.from(recordEnds, (end, i) => {
    expect(bytes[end - 1]).toBe(','.charCodeAt(0));
    return Buffer.from(bytes.subarray(recordEnds[i - 1] ?? 0, end - 1)).toString();
  });
}

/** The served texts that start at the positions of own URLs. */
export function ownUrls({ bytes, links }: Batch): string[] {
  return Array.from(links, (at) => {
    expect(bytes[at - 1]).toBe('"'.charCodeAt(0));
    return /^[^"]*/.exec(Buffer.from(bytes.subarray(at)).toString())![0];
  });
}

/** The values of a column, by the end of its path. */
export function column(batch: DecodedBatch, collection: string, path: string): (string | null)[] {
  const number = layoutOf(collectionNamed(collection)!).columns.findIndex(
    (one) => one.path === `${collection}/${path}`,
  );
  const { path: fullPath, numbers, table } = batch.columns[number]!;
  const { parent, rowEnds } = batch.tables[table]!;
  const rows = parent < 0 ? batch.recordEnds.length : (rowEnds.at(-1) ?? 0);
  expect(numbers.length).toBeLessThanOrEqual(rows);
  return Array.from({ length: rows }, (_, i) => textOf(batch, fullPath, numbers[i] ?? NULL_NUMBER));
}

/**
 * The top-level members of each record as served, from the positions in the batch and the keys of the record's shape.
 */
export function membersIn(batch: Batch): { readonly key: string; readonly text: string }[][] {
  let first = 0;
  return served(batch).map((record, row) =>
    batch.outlines[batch.outlineOf[row]!]!.map((key, i, keys) => {
      const start = i === 0 ? 1 : batch.members[first + i - 1]! + 1;
      const text = Buffer.from(record)
        .subarray(start, batch.members[first + i])
        .toString();
      if (i === keys.length - 1) first += keys.length;
      return { key, text };
    }),
  );
}
