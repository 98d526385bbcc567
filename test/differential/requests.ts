// Random requests on a data set: valid, nearly valid and hostile ones, spelled in many ways. Seeded. Values are mostly
// drawn from the data, so that filters match records.
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import type { Collection } from '../../engine/schema/types.ts';
import type { Random } from '../support/random.ts';
import type { DataSet } from './dataset.ts';
import { collectionIn } from './infer.ts';
import type { OracleRequest } from './oracle.ts';
import { randomParameters } from './parameters.ts';
import { encode } from './query.ts';
import { fieldsBehindIn, randomFieldPath, randomFilters, randomSibling, type Model } from './requestFilters.ts';
import { randomExcess } from './requestLimits.ts';
import { randomPath } from './requestPaths.ts';
import { TEXTS } from './texts.ts';

/** Draws a request that suits a data set, or nearly does. */
export function randomRequest(random: Random, dataSet: DataSet): OracleRequest {
  const collection = random.chance(0.7)
    ? random.pick(COLLECTIONS.filter(({ open }) => !open))
    : random.pick(COLLECTIONS);
  const records = dataSet.get(collection.name) ?? [];
  const model = records.length > 0 ? random.pick(records).json : undefined;
  // As forwarded by a proxy that keeps the path of the base URL.
  const prefix = random.chance(0.05) ? '/replica' : '';
  const path = prefix + randomPath(random, dataSet, collection);
  const query = randomQuery(random, collectionIn(dataSet, collection), { json: model, dataSet });
  return { method: randomMethod(random), target: path + query, headers: randomHeaders(random, path) };
}

function randomMethod(random: Random): string {
  if (random.chance(0.9)) return 'GET';
  return random.pick(['HEAD', 'HEAD', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE']);
}

const ACCEPTS: readonly string[] = [
  '*/*',
  'application/json',
  'application/*',
  'text/html',
  'text/html, */*;q=0.8',
  'text/html,application/xhtml+xml',
  'application/json;q=0',
  'application/json;q=0, */*;q=0.5',
  'Application/JSON; charset=utf-8',
  'application/json, text/html;q=0.5',
  'image/*;q=0.5, */*;q=0',
  'text/csv',
  'text/csv, application/json',
  'application/json, text/csv;q=0.5',
  'application/x-ndjson;q=0.9, */*;q=0.1',
  'Text/CSV; header=present, */*',
  'text/*',
];

/** Paths with a start page for browsers, which is not part of the oracle. */
const START = /^(?:\/replica)?\/(?:api\/(?:v[23]\/)?)?$/;

function randomHeaders(random: Random, path: string): Record<string, string> {
  if (random.chance(0.85)) return {};
  const accept = random.pick(ACCEPTS);
  return START.test(path) && accept.startsWith('text/html') ? {} : { accept };
}

/** `model` has a record that the values are drawn from, so that several filters agree on it. */
function randomQuery(random: Random, collection: Collection, model: Model): string {
  if (random.chance(0.1)) return random.pick(['', '', '?', '?&', '?=', '?=x', '?a', '?%', '?%ff=%e2%82', '??x=1']);
  const roots = collection.fields.filter(({ kind }) => kind !== 'opaque');
  const behind = fieldsBehindIn(model.dataSet);
  const paths = random.several(0, 4, () => randomFieldPath(random, roots, behind));
  // Two conditions on the same relation or array behave differently from two on different ones.
  const twice = paths.filter((path) => random.chance(path.at(-1)?.kind === 'scalars' ? 0.9 : 0.1));
  paths.push(...twice);
  paths.push(...paths.filter(() => random.chance(0.15)).map((path) => randomSibling(random, path, behind)));
  const filters = paths.flatMap((path) => randomFilters(random, path, model));
  const all = [...filters, ...randomParameters(random, collection, model.json), ...randomUnknown(random)];
  if (random.chance(0.01)) all.push(...randomExcess(random, roots));
  if (all.length === 0) return '';
  return `?${random.shuffled(all).join(random.chance(0.05) ? '&&' : '&')}`;
}

function randomUnknown(random: Random): readonly string[] {
  const names = random.chance(0.15) ? random.several(1, 4, () => random.pick(UNKNOWN_NAMES)) : [];
  return names.map((name) => `${name}=${encode(random.pick(TEXTS), '+')}`);
}

const UNKNOWN_NAMES: readonly string[] = [
  'page',
  'per_page',
  'q',
  'id__in',
  'pk',
  'limt',
  'publicationStatus__in',
  'publicationState-x',
  'results_field__dataPath',
  'discoveryKeyword__name',
  'titel',
  'TITLE',
  'titel!',
  '__title',
  '9title',
  'limit__in',
  'ordering__in',
  'explain',
  'generation',
  'facet',
  'format!',
  '__proto__',
  'constructor',
  'toString__in',
  'na%C3%AFve',
  'a%20b%2Cc',
  '%00',
  // Sorts before the next one by code point, after it by UTF-16 unit.
  '%EF%BF%BD',
  '%F0%9F%98%80',
  // Two and three of these are around the limit of the header that names them.
  'x'.repeat(600),
  'y'.repeat(500),
  'z'.repeat(410),
  'w'.repeat(422),
  'v'.repeat(1100),
];
