// Snapshots that are handed from a folder to replicas: small generations that differ, and what a folder holds. Every
// snapshot that a pointer names is read and compared.
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'vitest';
import {
  decodePointer,
  objectsOf,
  type Pointer,
  POINTER_NAME,
  type PublishingTarget,
} from '../../data/distribution/target.ts';
import { type PublishOptions, type PublishReport, publishSnapshot } from '../../data/distribution/publish.ts';
import { openPublishingTarget } from '../../data/distribution/openTarget.ts';
import { dataSetOf, imported } from './dataSets.ts';

/** A snapshot file that can be published. */
export interface Release {
  readonly file: string;
  readonly generation: string;
}

/** A small snapshot with data of a day of January 2026, or of no day; `text` makes its content another one. */
export async function releaseOf(parent: string, day: number | undefined, text = 'a note'): Promise<Release> {
  const record = JSON.stringify({ ob_id: 7, note: `${text} of ${day}` });
  const created = day === undefined ? undefined : `2026-01-${String(day).padStart(2, '0')}T00:00:00Z`;
  const { file, report } = await imported(dataSetOf(parent, { 'notes.ndjson': `${record}\n` }), { created });
  return { file, generation: report.generation };
}

/** A new folder to publish to, and its URL. */
export function newFolder(parent: string): { readonly folder: string; readonly url: string } {
  const folder = mkdtempSync(join(parent, 'target-'));
  return { folder, url: pathToFileURL(folder).href };
}

/** Publishes in this process, to a URL or a target that is open. */
export async function published(
  to: string | PublishingTarget,
  { file }: Pick<Release, 'file'>,
  options: Partial<PublishOptions> = {},
): Promise<PublishReport> {
  const target = typeof to === 'string' ? await openPublishingTarget(to) : to;
  try {
    return await publishSnapshot({ file, target, allowRollback: false, ...options }, () => undefined);
  } finally {
    if (typeof to === 'string') await target.close();
  }
}

/** The pointer of a folder, if it has one; its objects are there with the bytes that their names say. */
export function wholePointer(folder: string): Pointer | undefined {
  const file = join(folder, POINTER_NAME);
  if (!existsSync(file)) return undefined;
  const pointer = decodePointer(readFileSync(file, 'utf8'), folder);
  for (const name of objectsOf(pointer)) {
    const sum = createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex');
    expect(name.startsWith(sum)).toBe(true);
  }
  return pointer;
}

/** The names in a folder that belong to no object and no pointer. */
export function strayNames(folder: string): readonly string[] {
  return readdirSync(folder).filter(
    (name) => name !== POINTER_NAME && !/^[0-9a-f]{64}\.(snapshot|deflate)$/.test(name),
  );
}
