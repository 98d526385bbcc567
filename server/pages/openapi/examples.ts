// A record of each collection to show: the first one of the embedded sample, and whether it is one of other data too.
// Reads files of the installation, and nothing of the data that is served.
import { readFile } from 'node:fs/promises';
import { COLLECTIONS, type Field } from '../../../engine/engine.ts';
import { installed } from '../../settings/installation.ts';

const LINE_FEED = 0x0a;

/** The first line of each file of the sample. A reload reads no file: the installation may be gone by then. */
let firstLines: readonly (readonly [collection: string, line: string])[] | undefined;

/** The records by collection, own URLs with this base URL. Cost: at first reads the sample, 2.5 MB, off the thread. */
export async function sampleExamples(baseUrl: string): Promise<ReadonlyMap<string, object>> {
  firstLines ??= await Promise.all(COLLECTIONS.map(async ({ name }) => [name, await firstLine(name)] as const));
  const start = JSON.stringify(baseUrl).slice(1, -1);
  return new Map(firstLines.map(([name, line]) => [name, JSON.parse(line.replaceAll('{base_url}', start)) as object]));
}

async function firstLine(collection: string): Promise<string> {
  const lines = await readFile(installed(`data/sample/${collection}.ndjson`));
  return lines.toString('utf8', 0, lines.indexOf(LINE_FEED));
}

/** Whether each member of a record is one of these fields, with a value of its type or null. Cost: the record. */
export function hasFields(fields: readonly Field[], record: object): boolean {
  const entries: readonly (readonly [name: string, value: unknown])[] = Object.entries(record);
  return entries.every(([name, value]) => {
    const field = fields.find((one) => one.name === name);
    return field !== undefined && (value === null || isOf(field, value));
  });
}

function isOf(field: Field, value: unknown): boolean {
  switch (field.kind) {
    case 'scalar':
      return isScalar(field.type, value);
    case 'scalars':
      return Array.isArray(value) && value.every((each) => isScalar(field.type, each));
    case 'link':
      return isLinkTo(field.to, value);
    case 'links':
      return Array.isArray(value) && value.every((each) => isLinkTo(field.to, each));
    case 'record':
      return typeof value === 'object' && value !== null && hasFields(field.fields, value);
    case 'records':
      return Array.isArray(value) && value.every((each: object) => hasFields(field.fields, each));
    case 'opaque':
      return Array.isArray(value);
  }
}

function isScalar(type: string, value: unknown): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'float') return typeof value === 'number';
  return typeof value === (type === 'boolean' ? 'boolean' : 'string');
}

function isLinkTo(to: string, value: unknown): boolean {
  return typeof value === 'string' && value.includes(`/api/v3/${to}/`);
}
