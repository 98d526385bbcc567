// The requests that `compare` sends: those of an access log, or one of each kind made from the data itself.
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { isObject, parseJson } from '../../engine/bits/json.ts';
import { OperationError, reasonOf } from '../operationError.ts';
import type { ComparedServer } from './compare.ts';
import { isPage } from './differences.ts';

/** Distinct requests of a log that are compared. */
const LOGGED_MAX = 100_000;

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

/**
 * Requests for every collection of a replica: first, middle and last page, the first and the last record, formats, and
 * each field as a filter with a value that occurs.
 */
export async function requestsOfData(replica: ComparedServer): Promise<readonly string[]> {
  const paths = ['/api/v3/'];
  for (const { name, filters, idField } of replica.collections) {
    const list = `/api/v3/${name}/`;
    const page = parseJson((await replica.response(`${list}?limit=${PAGE}`)).body);
    if (!isPage(page)) continue;
    const records = page.results.filter(isObject);
    const last = Math.max(0, page.count - PAGE);
    for (const offset of new Set([0, last >> 1, last])) paths.push(`${list}?limit=${PAGE}&offset=${offset}`);
    paths.push(list, `${list}?format=json&limit=1`, `${list}?ordering=-${idField}&limit=${PAGE}`);
    for (const record of [records[0], records.at(-1)]) if (record) paths.push(`${list}${String(record[idField])}/`);
    paths.push(`${list}999999999999/`);
    for (const field of new Set([...filters, ...Object.keys(records[0] ?? {})])) {
      const value = records.map((record) => filterValue(record[field])).find((value) => value !== undefined);
      if (value !== undefined) paths.push(`${list}?${field}=${encodeURIComponent(value)}&limit=${PAGE}`);
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
