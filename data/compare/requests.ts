// The requests that `compare` sends: those of an access log, or one of each kind made from the data itself.
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { isObject } from '../../engine/bits/json.ts';
import { COLLECTIONS } from '../../engine/shared.ts';
import { OperationError, reasonOf } from '../operationError.ts';

/** Distinct requests of a log that are compared. */
const LOGGED_MAX = 100_000;
/** Longer lines are no request of this API: a replica accepts heads of 64 kB. */
const LINE_CHARACTERS_MAX = 1 << 17;

/** The request line in the combined log format and in the JSON log of the shipped nginx file. */
const REQUEST_LINE = /"(?:GET|HEAD) (\/[^ "\\]*) HTTP\/[\d.]+"/;
const PUBLIC_PATH = /^\/(?:api|openapi)\b/;

/**
 * The distinct paths of GET and HEAD requests to the API in an access log, in their order; `prefix` is the path of the
 * base URL, which is removed. Throws OperationError `file`, and `input` if the log has no such request.
 */
export async function loggedRequests(file: string, prefix: string): Promise<readonly string[]> {
  const paths = new Set<string>();
  try {
    for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
      if (line.length > LINE_CHARACTERS_MAX) continue;
      const [, path = ''] = REQUEST_LINE.exec(line) ?? [];
      const local = path.startsWith(prefix) ? path.slice(prefix.length) : path;
      if (PUBLIC_PATH.test(local)) paths.add(local);
      if (paths.size === LOGGED_MAX) break;
    }
  } catch (error) {
    throw new OperationError('file', `${file}: cannot be read (${reasonOf(error)})`, error);
  }
  if (paths.size === 0) throw new OperationError('input', `${file}: no line has a GET request to the API`);
  return [...paths];
}

/** Records of the first page from which values for filters are taken. */
const PAGE = 20;
/** Fields of one collection that become filters. */
const FIELDS_MAX = 30;

/**
 * Requests for every collection of a root view: first, middle and last page, the first and the last record, formats,
 * and each field as a filter with a value that occurs, documented fields first. `fetchJson` fetches a path from the
 * replica. `hasV2` adds the spelling of version 2.
 */
export async function requestsOfData(
  fetchJson: (path: string) => Promise<unknown>,
  hasV2: boolean,
  onCollection: (done: number, total: number) => void,
): Promise<readonly string[]> {
  const root = await fetchJson('/api/v3/');
  const names = COLLECTIONS.filter(({ name }) => isObject(root) && name in root);
  const paths = hasV2 ? ['/api/v3/', '/api/v2/'] : ['/api/v3/'];
  for (const [i, { name, filters, idField, versions }] of names.entries()) {
    onCollection(i, names.length);
    const list = `/api/v3/${name}/`;
    const page = await fetchJson(`${list}?limit=${PAGE}`);
    if (!isObject(page) || typeof page['count'] !== 'number' || !Array.isArray(page['results'])) continue;
    const count = page['count'];
    const records = page['results'].filter(isObject);
    const last = Math.max(0, count - PAGE);
    for (const offset of new Set([0, last >> 1, last])) paths.push(`${list}?limit=${PAGE}&offset=${offset}`);
    paths.push(list, `${list}?format=json&limit=1`, `${list}?ordering=-${idField}&limit=${PAGE}`);
    if (hasV2 && versions.includes('v2')) paths.push(`/api/v2/${name}/?limit=1`);
    for (const record of [records[0], records.at(-1)]) if (record) paths.push(`${list}${String(record[idField])}/`);
    paths.push(`${list}999999999999/`);
    const documented = filters.filter((field) => records.some((record) => filterValue(record[field]) !== undefined));
    const others = Object.keys(records[0] ?? {}).filter((field) => !filters.includes(field));
    for (const field of [...documented, ...others].slice(0, FIELDS_MAX)) {
      const value = records.map((record) => filterValue(record[field])).find((value) => value !== undefined);
      if (value === undefined) continue;
      paths.push(`${list}?${field}=${encodeURIComponent(value)}&limit=${PAGE}`);
      const [word] = typeof value === 'string' ? (/[\p{L}\d]{3,}/u.exec(value) ?? []) : [];
      if (word !== undefined) paths.push(`${list}?${field}__icontains=${encodeURIComponent(word)}&limit=${PAGE}`);
    }
  }
  return [...new Set(paths)];
}

/** A value as a filter has it: a link as its id. Undefined for arrays, objects and long texts. */
function filterValue(value: unknown): string | number | boolean | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value !== 'string' || value === '' || value.length > 200) return undefined;
  if (!value.startsWith('{base_url}')) return value;
  const [, id] = /^\{base_url\}\/api\/v3\/\w+\/(\d+)\//.exec(value) ?? [];
  return id === undefined ? undefined : Number(id);
}
