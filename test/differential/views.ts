// The oracle's fields, ordering, after and facets, and their effect on the matching records: sorted arrays, plain
// counts. Rules: design, Parameters and Exports, order, facets.
import type { Collection, Field } from '../../engine/schema/types.ts';
import { extentsOf } from './extents.ts';
import { searchOf, type SearchTest } from './search.ts';
import type { World } from './filters.ts';
import { expandOf, joinedAmong, type JoinedField, type Shown } from './joins.ts';
import { memberOf, writeText, type Json } from './json.ts';
import { joinedValue, lastValue, pageInteger, type Pair } from './query.ts';
import { SUGGESTED, suggestedName, suggestion } from './suggest.ts';
import { columnsOf, keyOf, type Linked } from './keys.ts';
import { instantOf, isOn, isTruth } from './values.ts';

/** A path of fields; a relation at its end means its id. */
type Path = readonly Field[];

/** The errors of the parameter at a place of the query, and the names in it without effect. */
interface Remark {
  readonly place: number;
  readonly messages: readonly string[];
  readonly ignored: readonly (string | readonly [parameter: string, name: string])[];
}

/** The representation of a list. */
export interface View {
  readonly order: readonly { readonly path: Path; readonly descending: boolean }[];
  readonly after: bigint | undefined;
  readonly facets: readonly Facet[];
  /** The tests of `bbox` and `datetime`. */
  readonly extents: readonly ((record: Json, world: World) => boolean)[];
  /** The test of `search`. */
  readonly search: SearchTest | undefined;
  readonly joined: readonly JoinedField[];
  /** The paths of links that records replace. */
  readonly expand: readonly (readonly string[])[];
  readonly remarks: readonly Remark[];
}

/** A facet, of the values at the end of a path or of the years of its dates. */
interface Facet {
  readonly name: string;
  readonly path: Path;
  readonly isYear: boolean;
}

/**
 * Reads the parameters of a list, or of a record or root view, which have no collection here. `shown` is the collection
 * of the records; a root view has none.
 */
export function viewOf(
  pairs: readonly Pair[],
  collection: Collection | undefined,
  shown: Shown | undefined,
  isStrict: boolean,
  paging: Paging,
  linked: Linked,
): View {
  const fields = collection?.fields ?? [];
  const known = { fields, linked };
  const names = [...new Set(members(pairs, 'fields'))];
  const asked = [...new Set(members(pairs, 'expand'))];
  const expand = shown && expandOf(asked, shown, names, { isStrict, isTable: paging.isTable === true, linked });
  const joined = shown ? joinedAmong(names, shown, linked) : [];
  const view: View = {
    order: members(pairs, 'ordering').flatMap((name) => {
      const path = pathOf(known, name.replace(/^-\s*/, ''), true);
      return path ? [{ path, descending: name.startsWith('-') }] : [];
    }),
    after: afterOf(pairs),
    extents: [],
    search: undefined,
    facets: [...new Set(members(pairs, 'facets'))].flatMap((name) => facetPathOf(known, name) ?? []),
    joined,
    expand: expand?.paths ?? [],
    remarks: [
      ...(shown ? fieldsRemarks(pairs, shown, joined, isStrict) : []),
      ...(expand ? expandRemarks(pairs, expand) : []),
      ...(collection && isStrict ? placeRemarks(pairs, paging) : []),
      ...switchRemarks(pairs, isStrict, paging, shown !== undefined),
    ],
  };
  if (!collection) return view;
  const extents = extentsOf(pairs, collection, isStrict);
  const search = searchOf(pairs, collection, isStrict, linked);
  const searchRemark = {
    place: placeOf(pairs, 'search'),
    messages: search.messages,
    ignored: search.isIgnored ? ['search'] : [],
  };
  return {
    ...view,
    extents: extents.map(({ matches }) => matches),
    search: search.test,
    remarks: [
      ...view.remarks,
      ...extents.map(({ remark }) => remark),
      searchRemark,
      ...orderingRemarks(pairs, known, isStrict),
      ...afterRemarks(pairs),
      ...facetRemarks(pairs, known, isStrict, paging.isExport === true),
      ...['ordering', 'facets'].flatMap((parameter) => lengthRemarks(pairs, parameter)),
    ],
  };
}

/** The maximum page size, undefined for exports and without a limit; whether the response is an export. */
export interface Paging {
  readonly limitMax?: number | undefined;
  readonly isExport?: boolean;
  readonly isCsv?: boolean;
  readonly isTable?: boolean;
}

/** Remarks about a switch that is not a boolean, or that does not apply to an export. */
function switchRemarks(
  pairs: readonly Pair[],
  isStrict: boolean,
  { isExport, isCsv }: Paging,
  hasBom: boolean,
): readonly Remark[] {
  const refused = (parameter: string, messages: readonly string[], ignored: readonly string[]): readonly Remark[] => [
    { place: placeOf(pairs, parameter), messages, ignored },
  ];
  const [strict, pretty] = [lastValue(pairs, 'strict') ?? '', lastValue(pairs, 'pretty') ?? ''];
  const bom = hasBom ? (lastValue(pairs, 'bom') ?? '') : '';
  const truth = ['Enter true or false.'];
  return [
    ...(isTruth(strict) ? [] : refused('strict', truth, [])),
    ...(isTruth(pretty) ? [] : refused('pretty', isStrict ? truth : [], ['pretty'])),
    ...(isTruth(bom) ? [] : refused('bom', isStrict ? truth : [], ['bom'])),
    ...(isOn(bom) && isCsv !== true
      ? refused('bom', isStrict ? ['Only CSV has a byte order mark.'] : [], ['bom'])
      : []),
    ...(isOn(pretty) && isExport === true ? refused('pretty', isStrict ? [NO_PLACE] : [], ['pretty']) : []),
  ];
}

const NO_PLACE = 'Exports do not support this.';

/** Remarks of strict mode: a limit or offset that is not a number from 1 or 0, or a limit beyond its maximum. */
function placeRemarks(pairs: readonly Pair[], { limitMax }: Paging): readonly Remark[] {
  return (['limit', 'offset'] as const).flatMap((parameter) => {
    const value = lastValue(pairs, parameter);
    if (value === undefined) return [];
    const least = parameter === 'limit' ? 1n : 0n;
    const number = pageInteger(value, least);
    const messages = number === undefined ? [`Enter a whole number from ${least}.`] : [];
    if (parameter === 'limit' && limitMax !== undefined && number !== undefined && number > limitMax) {
      messages.push(`Ensure this value is less than or equal to ${limitMax}.`);
    }
    return [{ place: placeOf(pairs, parameter), messages, ignored: [] }];
  });
}

/** The error of a value with too many names between commas, else nothing. */
function tooManyNames(value: string): readonly string[] {
  return value.split(',').length > 1024 ? ['At most 1024 names can be given at once.'] : [];
}

function lengthRemarks(pairs: readonly Pair[], parameter: string): readonly Remark[] {
  const messages = tooManyNames(joinedValue(pairs, parameter) ?? '');
  return messages.length === 0 ? [] : [{ place: placeOf(pairs, parameter), messages, ignored: [] }];
}

function members(pairs: readonly Pair[], parameter: string): readonly string[] {
  const value = joinedValue(pairs, parameter) ?? '';
  if (tooManyNames(value).length > 0) return [];
  const names = value.split(',').map((name) => name.trim());
  return names.filter((name) => name !== '');
}

function placeOf(pairs: readonly Pair[], parameter: string): number {
  return pairs.findLastIndex(([name]) => name === parameter);
}

function fieldsRemarks(
  pairs: readonly Pair[],
  { keys }: Shown,
  joined: readonly JoinedField[],
  isStrict: boolean,
): readonly Remark[] {
  const isJoined = (name: string): boolean => joined.some((field) => field.name === name);
  const unknown = [...new Set(members(pairs, 'fields'))].filter((name) => !keys.includes(name) && !isJoined(name));
  const tooMany = joined.length > 32 ? ['At most 32 joined fields can be requested at once.'] : [];
  const messages = unknown.map(
    (name, i) => `Unknown field "${name}".${i < SUGGESTED ? suggestedName(name, keys) : ''}`,
  );
  const ignored = unknown.map((name) => ['fields', name] as const);
  const names = { place: placeOf(pairs, 'fields'), messages: [...tooMany, ...(isStrict ? messages : [])], ignored };
  return [names, ...lengthRemarks(pairs, 'fields')];
}

function expandRemarks(pairs: readonly Pair[], { messages, ignored }: ReturnType<typeof expandOf>): readonly Remark[] {
  const names = ignored.map((name) => ['expand', name] as const);
  return [{ place: placeOf(pairs, 'expand'), messages, ignored: names }, ...lengthRemarks(pairs, 'expand')];
}

function orderingRemarks(pairs: readonly Pair[], known: Known, isStrict: boolean): readonly Remark[] {
  const names = new Set(members(pairs, 'ordering').map((name) => name.replace(/^-\s*/, '')));
  const unknown = [...names].filter((name) => name !== '' && !pathOf(known, name, true));
  const messages = isStrict ? unknown.map((name, i) => unknownField(known, name, true, i)) : [];
  const fitting = [...names].filter((name) => pathOf(known, name, true));
  if (fitting.length > 10) messages.push('At most 10 fields can be ordered by at once.');
  return [{ place: placeOf(pairs, 'ordering'), messages, ignored: unknown.map((name) => ['ordering', name] as const) }];
}

function facetRemarks(pairs: readonly Pair[], known: Known, isStrict: boolean, isExport: boolean): readonly Remark[] {
  const names = [...new Set(members(pairs, 'facets'))];
  const unknown = names.filter((name) => !facetPathOf(known, name));
  const messages = unknown.map((name, i) => unknownField(known, name, false, i));
  if (names.length > 10) messages.push('At most 10 facets can be requested at once.');
  const isIgnored = isExport && names.length > 0 && messages.length === 0;
  if (isIgnored && isStrict) messages.push(NO_PLACE);
  return [{ place: placeOf(pairs, 'facets'), messages, ignored: isIgnored ? ['facets'] : [] }];
}

const WHOLE = /^([+-]?\d+)(?:\.0*)?$/;

function afterOf(pairs: readonly Pair[]): bigint | undefined {
  const digits = WHOLE.exec((lastValue(pairs, 'after') ?? '').trim())?.[1];
  return digits === undefined ? undefined : BigInt(digits.replace('+', ''));
}

function afterRemarks(pairs: readonly Pair[]): readonly Remark[] {
  const value = lastValue(pairs, 'after');
  if (value === undefined) return [];
  const messages: string[] = [];
  if (value.includes('\0')) messages.push('Null characters are not allowed.');
  else if (value.trim() === '') messages.push('This field is required.');
  else if (afterOf(pairs) === undefined) messages.push('Enter a whole number.');
  for (const other of ['ordering', 'offset']) {
    if (lastValue(pairs, other) !== undefined) messages.push(`Cannot be combined with "${other}".`);
  }
  return [{ place: placeOf(pairs, 'after'), messages, ignored: [] }];
}

/** The fields of a collection, and those of the records that links point at. */
interface Known {
  readonly fields: readonly Field[];
  readonly linked: Linked;
}

function unknownField(all: Known, name: string, isToOne: boolean, place: number): string {
  if (isToOne && pathOf(all, name, false)) return `"${name}" has several values, so a list cannot be ordered by it.`;
  if (place >= SUGGESTED) return `Unknown field "${name}".`;
  const known = all.fields.map((field) => field.name).filter((each) => pathOf(all, each, isToOne));
  const nearest = suggestion(name, known, []);
  const meant = /"(.*)"/s.exec(nearest)?.[1];
  return `Unknown field "${name}".${meant !== undefined && pathOf(all, meant, isToOne) ? nearest : ''}`;
}

/** The fields of a path that ends on values. With `isToOne`, a record must have at most one value there. */
function pathOf({ fields, linked }: Known, name: string, isToOne: boolean): Path | undefined {
  const key = keyOf(`${name}__isnull`, columnsOf(fields), linked);
  // Generic links are crossed by filters only.
  if (key.kind !== 'filter' || key.rests) return undefined;
  const isSingle = key.path.every(({ kind }) => kind !== 'records' && kind !== 'links' && kind !== 'scalars');
  return isToOne && !isSingle ? undefined : key.path;
}

/** The path of a facet, which may end on the year of a date. */
function facetPathOf(known: Known, name: string): Facet | undefined {
  const path = pathOf(known, name, false);
  if (path) return { name, path, isYear: false };
  const dates = name.endsWith('__year') ? pathOf(known, name.slice(0, -'__year'.length), false) : undefined;
  const last = dates?.at(-1);
  const isDate = last && 'type' in last && (last.type === 'date' || last.type === 'dateTime');
  return dates && isDate ? { name, path: dates, isYear: true } : undefined;
}

/** The records in the requested order; they arrive in the order of their ids. */
export function inOrder<T extends { readonly fitted: Json }>(
  records: readonly T[],
  { order }: View,
  world: World,
): readonly T[] {
  return records.toSorted((a, b) => {
    for (const { path, descending } of order) {
      const [first, second] = [a, b].map(({ fitted }) => valuesAt(fitted, path, world)[0] ?? null);
      const difference = compare(first ?? null, second ?? null);
      if (difference !== 0) return descending ? -difference : difference;
    }
    return 0;
  });
}

/** The member after the results of a page; empty without facets. */
export function facetsMember(records: readonly { readonly fitted: Json }[], { facets }: View, world: World): string {
  if (facets.length === 0) return '';
  const share = FACET_TEXT_BYTES / facets.length;
  const each = facets.map((facet) => `${writeText(facet.name)}:${facetOf(records, facet, world, share)}`);
  return `,"facets":{${each.join(',')}}`;
}

interface Value {
  readonly key: number | bigint | string;
  readonly text: string;
}

interface Group {
  value: Value | null;
  count: number;
}

/** Bytes of the texts of all facets of a response (A67). */
const FACET_TEXT_BYTES = 128 * 1024;

/** Null and a text `null` share one key: if both occur, null is counted as the text. */
function facetOf(
  records: readonly { readonly fitted: Json }[],
  { path, isYear }: Facet,
  world: World,
  share: number,
): string {
  const yearIn = (value: Value | null): Value | null => (isYear && value ? yearOf(value) : value);
  const all = records.map(({ fitted }) => valuesAt(fitted, path, world).map(yearIn));
  const nullText = all.flat().find((value) => typeof value?.key === 'string' && value.text === 'null');
  const groups: Group[] = [];
  const byKey = new Map<number | bigint | string | null, Group>();
  for (const values of all) {
    const seen = new Set<Group>();
    for (const each of values.length === 0 ? [null] : values) {
      const value = each ?? nullText ?? null;
      const key = value && value.key;
      const group = byKey.get(key) ?? { value, count: 0 };
      if (!byKey.has(key)) groups.push(group);
      byKey.set(key, group);
      // The first spelling by text is shown.
      if (value && group.value && Buffer.compare(Buffer.from(value.text), Buffer.from(group.value.text)) < 0)
        group.value = value;
      seen.add(group);
    }
    for (const group of seen) group.count++;
  }
  const sorted = groups.toSorted((a, b) => b.count - a.count || compare(a.value, b.value)).slice(0, 100);
  let bytes = 0;
  const shown = sorted.filter(({ value }) => {
    const added = Buffer.byteLength(value?.text ?? '');
    if (bytes + added > share) return false;
    bytes += added;
    return true;
  });
  return `{${shown.map(({ value, count }) => `${writeText(value?.text ?? 'null')}:${count}`).join(',')}}`;
}

/** All values at the end of a path, null for each missing one on the way. */
function valuesAt(json: Json | undefined, path: Path, world: World): readonly (Value | null)[] {
  const [field, ...rest] = path;
  if (!field) throw new Error('a path ends on a value');
  const value = memberOf(json, field.name);
  const isMany = field.kind === 'records' || field.kind === 'links' || field.kind === 'scalars';
  const items = !isMany ? [value] : value?.kind === 'array' && value.items.length > 0 ? value.items : [undefined];
  if (rest.length === 0) return items.map((item) => valueOf(item, field, world));
  const inner = (item: Json | undefined): Json | undefined => ('to' in field ? world.linked(field.to, item) : item);
  return items.flatMap((item) => valuesAt(inner(item), rest, world));
}

function yearOf({ key }: Value): Value | null {
  if (typeof key !== 'bigint') return null;
  const seconds = key / 1_000_000n - (key < 0n && key % 1_000_000n !== 0n ? 1n : 0n);
  const year = new Date(Number(seconds) * 1000).getUTCFullYear();
  return { key: BigInt(year), text: String(year) };
}

function valueOf(value: Json | undefined, field: Field, { text }: World): Value | null {
  if (!value || value.kind === 'null' || value.kind === 'misfit') return null;
  if (field.kind === 'link' || field.kind === 'links') {
    const id = (value.kind === 'string' && /(\d+)\/?(?:\?.*)?$/.exec(value.value)?.[1]) || '';
    return { key: BigInt(id), text: id };
  }
  const shown = value.kind === 'string' ? text(value.value) : value.kind === 'number' ? value.token : '';
  const type = 'type' in field ? field.type : 'text';
  if (value.kind === 'boolean') return { key: String(value.value), text: String(value.value) };
  if (value.kind === 'number' && type !== 'text') {
    return { key: type === 'integer' ? BigInt(value.token) : Number(value.token), text: shown };
  }
  const isDate = type === 'date' || type === 'dateTime';
  return { key: (isDate ? instantOf(shown) : undefined) ?? shown, text: shown };
}

/** Numbers by value, texts by code point and after instants, null last. */
function compare(a: Value | null, b: Value | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  if (typeof a.key === 'string' && typeof b.key === 'string')
    return Buffer.compare(Buffer.from(a.key), Buffer.from(b.key));
  if (typeof a.key === 'string' || typeof b.key === 'string') return typeof a.key === 'string' ? 1 : -1;
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
}
