// Random paths: every spelling of lists, records and root views, and paths that mean nothing.
import type { Collection } from '../../engine/schema/types.ts';
import type { Random } from '../support/random.ts';
import type { DataSet } from './dataset.ts';
import { escapeSome } from './requestFilters.ts';

/** Draws a path of a collection, or of a root view, or an odd one. */
export function randomPath(random: Random, dataSet: DataSet, collection: Collection): string {
  const version = random.chance(0.8) ? 'v3' : 'v2';
  const start = `/api/${version}`;
  if (random.chance(0.04)) return start + random.pick(['/', '', '/.json', '/.json/']);
  if (random.chance(0.05)) return start + random.pick(ODD_PATHS);
  const name = random.chance(0.7) ? collection.name : collection.documentedPath;
  const spelled = random.chance(0.03) ? escapeSome(random, name) : name;
  const end = random.pick([...Array.from({ length: 10 }, () => '/'), '.json', '.json', '.json/', '']);
  if (random.chance(0.05)) return `${start}/${spelled}${random.pick(ODD_ENDINGS)}`;
  if (random.chance(0.8)) return `${start}/${spelled}${end}`;
  return `${start}/${spelled}/${randomId(random, dataSet, collection)}${end}`;
}

const ODD_ENDINGS: readonly string[] = [
  '.csv',
  '.ndjson',
  '.csv/',
  '.cvs',
  '.jsno',
  '.xml',
  '.xml/',
  '.json.csv',
  '.csv/1/',
  's/',
];

const ODD_PATHS: readonly string[] = [
  '/nothing/',
  '/observations//',
  '/observations/abc/',
  '/observations/abc',
  '/observations/1/2/',
  '/observations/-1/',
  '/observations/1.0/',
  '/observations.xml/',
  '/observations.json/1/',
  '/Observations/',
  '/observations%2F/',
  '/%zz/',
  '/observations/%31/',
  '/observations/99999999999999999999999999/',
  '/__proto__/',
  '/constructor/',
  '//observations/',
  '/../v3/',
  '/observation/',
  '/observation',
  '/obsrevations.csv',
  '/observation/17/',
  '/observation/17.jsn',
  '/migrationproperties/',
  '/../../observations/',
];

function randomId(random: Random, dataSet: DataSet, collection: Collection): string {
  const records = dataSet.get(collection.name) ?? [];
  const id =
    records.length > 0 && random.chance(0.85) ? String(random.pick(records).id) : String(random.integer(0, 99));
  return random.chance(0.85)
    ? id
    : random.pick([`0${id}`, `+${id}`, `%20${id}`, `${id}%20`, `${id}x`, `%2B${id}`, `${id}+`]);
}
