// Names of records that no single field names: a phenomenon by its term, a party with its role, an instrument on its
// platform, a period, a place.
import { readBox, boxText } from './map.ts';
import { type Data, dataOf, listOf, type RecordReader } from './records.ts';

const DAY_MS = 86_400_000;
/** Longer periods are given in months, and in years. */
const DAYS_MAX = 60;
const MONTHS_MAX = 24;

/** Terms that name a phenomenon, the best first. */
const NAMING_TERMS = ['long_name', 'standard_name', 'var_id'];
const UNIT_TERM = 'units';

type Name = (reader: RecordReader, record: Data) => string;

/** By collection. */
const NAMES: Readonly<Record<string, Name>> = {
  acquisitions: (reader, record) => pairName(reader, dataOf(listOf(record['instrumentplatformpair_set'])[0])),
  bboxes: placeName,
  ipps: pairName,
  phenomona: (reader, record) => {
    const { name, unit } = readPhenomenon(reader, record);
    return unit === '' ? name : `${name} (${unit})`;
  },
  rpis: (reader, record) => {
    const [party, role] = [reader.name(record['party']), roleText(reader, record)];
    return party && role ? `${party}, ${role}` : party;
  },
  times: (_, record) => readPeriod(record)?.text ?? '',
};

/** The name of a record; empty if it has none of this kind. Cost: the record, and at most two that it links to. */
export function derivedName(reader: RecordReader, collection: string, id: number): string {
  const name = Object.hasOwn(NAMES, collection) ? NAMES[collection] : undefined;
  const record = name && reader.record(collection, id);
  return record ? name(reader, record) : '';
}

/** `ceilometer 58 on Glenfirth Mast`. */
function pairName(reader: RecordReader, pair: Data): string {
  return [reader.name(pair['instrument']), reader.name(pair['platform'])].filter(Boolean).join(' on ');
}

/** The name of an area with its coordinates. */
function placeName(reader: RecordReader, record: Data): string {
  const box = readBox(record);
  return [reader.text(record['bboxName']), box ? boxText(box) : ''].filter(Boolean).join(': ');
}

/** `principal investigator`. */
export function roleText(reader: RecordReader, record: Data): string {
  return reader.text(record['role']).replaceAll('_', ' ');
}

/** The name of a phenomenon, empty if it has none, and its unit, empty if it has none or is dimensionless. */
export function readPhenomenon(reader: RecordReader, record: Data): { readonly name: string; readonly unit: string } {
  const terms = listOf(record['terms']).map(dataOf);
  const termText = (label: string): string => reader.text(terms.find((term) => term['label'] === label)?.['value']);
  const names = listOf(record['names']).map((each) => reader.text(dataOf(each)['name']));
  const name = [...NAMING_TERMS.map(termText), ...names].find(Boolean) ?? '';
  const unit = termText(UNIT_TERM);
  return { name, unit: unit === '1' ? '' : unit };
}

/** A period. `end` is undefined if it goes on. */
export interface Period {
  /** `2003-04-22`. */
  readonly start: string;
  readonly end: string | undefined;
  /** `10 months`; empty if that is unknown. */
  readonly length: string;
  /** `2003-04-22 to 2004-03-01`. */
  readonly text: string;
}

/** The period of a record of `times`; undefined if its start is no date, or if it has an end that is no date. */
export function readPeriod({ startTime, endTime }: Data): Period | undefined {
  const start = dayIn(startTime);
  const end = dayIn(endTime);
  if (start === undefined || (end === undefined && endTime !== null && endTime !== undefined)) return undefined;
  if (end === undefined) return { start, end, length: '', text: `from ${start} on` };
  return { start, end, length: lengthText(start, end), text: start === end ? start : `${start} to ${end}` };
}

function dayIn(time: unknown): string | undefined {
  const [day] = (typeof time === 'string' && /^\d{4}-\d\d-\d\d/.exec(time)) || [];
  return day === undefined || Number.isNaN(Date.parse(day)) ? undefined : day;
}

function lengthText(start: string, end: string): string {
  const days = Math.round((Date.parse(end) - Date.parse(start)) / DAY_MS);
  if (days < 0) return 'ends before it starts';
  const months = Math.round(days / 30.44);
  const [count, unit] =
    days <= DAYS_MAX ? [days, 'day'] : months <= MONTHS_MAX ? [months, 'month'] : [Math.round(days / 365.25), 'year'];
  return count === 0 ? '' : `${count} ${unit}${count === 1 ? '' : 's'}`;
}
