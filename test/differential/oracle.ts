// The naive oracle: answers any request of the catalogue API from arrays of records and plain loops. Shares only the
// declaration with the product. Never fast.
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import { collectionIn, collectionOf } from './infer.ts';
import type { Collection } from '../../engine/schema/types.ts';
import { formAccepted } from './accept.ts';
import { linkedRecord, type DataSet, type OracleRecord } from './dataset.ts';
import { csvOf, cutTo, keysOf, namesIn } from './exports.ts';
import { matches, type World } from './filters.ts';
import { expanded, joinedJson, type Shown } from './joins.ts';
import { indented, type Json, parseJson, writeJson, writeText } from './json.ts';
import { errorBody, ignoredHeader, judge, type JudgeSettings, type Judgement } from './judge.ts';
import { linkTo, servedText, type LinkStyle } from './links.ts';
import { joinedValue, lastValue, nameBeyond, pageInteger, pageQuery, pairsOf, type Pair } from './query.ts';
import { nearestPath, routeOf, type View } from './routes.ts';
import { facetsMember, inOrder } from './views.ts';

/** The settings of the oracle; the same names as the server's settings. */
export interface OracleSettings extends JudgeSettings {
  readonly baseUrl: string;
  readonly links: 'spec' | 'request';
  /** The name of the generation in links, undefined if walks are not pinned. */
  readonly generation?: string | undefined;
  /** The generation that responses name, if the test knows it. */
  readonly served?: string | undefined;
}

/** A request. `target` is path and query as sent; header names are in lower case. */
export interface OracleRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The expected response. A header that is null must be absent, one that is not named may have any value. A body that is
 * undefined may be anything; for HEAD it is '', with the Content-Length of GET among the headers.
 */
export interface OracleAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | null>>;
  readonly body: string | undefined;
}

const ALLOW = 'GET, HEAD, OPTIONS';
const PARSES = '["application/json","application/x-www-form-urlencoded","multipart/form-data"]';

/** The response to a request on a data set. Cost: a walk over every record of the collection. */
export function oracle(dataSet: DataSet, settings: OracleSettings, request: OracleRequest): OracleAnswer {
  const answer = answerOf(dataSet, settings, request);
  return request.method === 'HEAD' ? { ...answer, body: '' } : answer;
}

interface Context {
  readonly dataSet: DataSet;
  readonly settings: OracleSettings;
  readonly path: string;
  readonly pairs: readonly Pair[];
  readonly beyond: string | undefined;
  /** The form of the response: json, ndjson or csv. */
  readonly form: string;
}

function answerOf(dataSet: DataSet, settings: OracleSettings, request: OracleRequest): OracleAnswer {
  const { method, target, headers } = request;
  if (target.includes('#')) return { status: 400, headers: {}, body: undefined };
  const mark = target.indexOf('?');
  const asked = mark < 0 ? target : target.slice(0, mark);
  const [, prefix = ''] = /^https?:\/\/[^/]+(.*)$/.exec(settings.baseUrl)!;
  const isInside = asked === prefix || asked.startsWith(`${prefix}/`);
  const path = isInside ? asked.slice(prefix.length) || '/' : asked;
  const query = mark < 0 ? undefined : target.slice(mark + 1);
  const route = routeOf(path);
  if (route.kind === 'nothing') {
    const near = nearestPath(path);
    return near === undefined ? notFound() : notFound(` Did you mean "${prefix}${near}"?`);
  }
  if (route.kind === 'redirect') {
    const location = `${prefix}${path}/${query === undefined ? '' : `?${query}`}`;
    return { status: 301, headers: { location }, body: undefined };
  }
  if (method === 'OPTIONS') return options(route);
  if (method !== 'GET' && method !== 'HEAD') {
    return detail(405, `Method "${method}" not allowed.`, { allow: ALLOW });
  }
  if (route.kind === 'index') return { status: 200, headers: {}, body: undefined };
  const beyond = nameBeyond(query);
  const pairs = beyond === undefined ? pairsOf(query) : [];
  return viewed({ dataSet, settings, path, pairs, beyond, form: 'json' }, route, headers['accept']);
}

function viewed(asked: Context, view: Exclude<View, { kind: 'index' }>, accept: string | undefined): OracleAnswer {
  const format = lastValue(asked.pairs, 'format') ?? '';
  const formats = view.kind === 'root' ? ['api', 'json'] : ['api', 'json', 'ndjson', 'csv', 'parquet'];
  if (format !== '' && !formats.includes(format)) {
    return notFound(` Formats are ${formats.slice(0, -1).join(', ')} and ${formats.at(-1)}.`);
  }
  const named = format === '' ? view.ending : format.replace('api', 'json');
  const form = named ?? formAccepted(accept, view.kind === 'list');
  if (form === undefined) return detail(406, 'Could not satisfy the request Accept header.');
  const isExport = form !== 'json';
  const settings = {
    ...asked.settings,
    isExport,
    isCsv: form === 'csv',
    isTable: form === 'csv' || form === 'parquet',
    limitMax: isExport ? undefined : asked.settings.limitMax,
  };
  const context: Context = { ...asked, form, settings };
  const { generation } = context.settings;
  const pin = (lastValue(context.pairs, 'generation') ?? '').trim();
  if (view.kind === 'list' && generation !== undefined && pin !== '' && pin !== generation) return goneTo(generation);
  if (context.beyond !== undefined) {
    return json(400, errorBody([[context.beyond, ['At most 1024 parameters can be given at once.']]]), {});
  }
  const judgement = judge(
    context.pairs,
    view.kind === 'list' ? collectionIn(context.dataSet, view.collection) : undefined,
    view.kind === 'root' ? undefined : shownBy(context, viewedCollection(context, view)),
    context.settings,
    (name) => collectionOf(context.dataSet, name),
  );
  if (judgement.errors.length > 0) return json(400, errorBody(judgement.errors), {});
  const style = styleOf(context, view, format);
  const body = bodyOf(context, view, judgement, style);
  if (body === undefined) return notFound();
  const type = TYPES[form] ?? 'application/json';
  const file = view.kind === 'record' ? `${viewedCollection(context, view).name}-${view.id}` : nameOf(view);
  const headers = {
    allow: ALLOW,
    vary: 'Accept, Accept-Encoding',
    ...(settings.served === undefined ? {} : { 'x-generation': settings.served }),
    'x-ignored-params': ignoredHeader(judgement.ignored),
    'x-total-count': view.kind === 'list' ? String(foundBy(context, view.collection, judgement, style).length) : null,
    'content-disposition': form === 'json' ? null : `attachment; filename="${file}.${form}"`,
  };
  const hasBom = form === 'csv' && ['1', 'true'].includes((lastValue(context.pairs, 'bom') ?? '').trim().toLowerCase());
  if (hasBom) return json(200, `\ufeff${body}`, { ...headers, 'content-type': type });
  const isPretty = form === 'json' && ['1', 'true'].includes(lastValue(context.pairs, 'pretty') ?? '');
  return json(200, isPretty ? indented(parseJson(body)) : body, { ...headers, 'content-type': type });
}

function nameOf(view: View): string {
  return view.kind === 'list' ? view.collection.name : '';
}

const TYPES: Readonly<Record<string, string>> = {
  ndjson: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8',
};

/** The collection of a list, or of a record: the first that contains it, else the first. */
function viewedCollection(context: Context, view: Extract<View, { kind: 'list' | 'record' }>): Collection {
  if (view.kind === 'list') return view.collection;
  const has = (collection: Collection): boolean => recordsOf(context, collection).some(({ id }) => id === view.id);
  return view.collections.find(has) ?? (view.collections[0] as Collection);
}

function shownBy(context: Context, collection: Collection): Shown {
  const inferred = collectionIn(context.dataSet, collection);
  const { fields, others } = keysOf(inferred, recordsOf(context, collection));
  return { fields: inferred.fields, keys: [...fields, ...others] };
}

function bodyOf(
  context: Context,
  view: Exclude<View, { kind: 'index' }>,
  judgement: Judgement,
  style: LinkStyle,
): string | undefined {
  if (view.kind === 'root') return rootBody(style);
  if (view.kind === 'list') return pageBody(context, view.collection, judgement, style);
  const collection = viewedCollection(context, view);
  const record = recordsOf(context, collection).find(({ id }) => id === view.id);
  const shape = shapeOf(context, collection, judgement);
  return record && (exportBody(context, shape, [record], style) ?? recordBody(shape, record, style));
}

/** The shape of the records of a response. */
interface Shape {
  readonly collection: Collection;
  readonly names: readonly string[];
  readonly joined: readonly { readonly name: string; readonly of: (json: Json) => Json }[];
  readonly shaped: (json: Json) => Json;
}

function shapeOf({ pairs, dataSet }: Context, collection: Collection, { view }: Judgement): Shape {
  const names = namesIn(joinedValue(pairs, 'fields'));
  const linked = (name: string): Collection => collectionOf(dataSet, name);
  const { fields } = collectionIn(dataSet, collection);
  const joined = view.joined.map(({ name, path }) => ({ name, of: (json: Json) => joinedJson(dataSet, json, path) }));
  const shaped = (json: Json): Json => {
    const whole = expanded(dataSet, cutTo(json, names), fields, view.expand, linked);
    const added = joined.map(({ name, of }): [string, Json] => [name, of(json)]);
    return whole.kind === 'object' ? { kind: 'object', members: [...whole.members, ...added] } : whole;
  };
  return { collection, names, joined, shaped };
}

/** Records as an export; undefined if none was requested. */
function exportBody(
  context: Context,
  shape: Shape,
  records: readonly OracleRecord[],
  style: LinkStyle,
): string | undefined {
  const { form } = context;
  const { collection, names, joined } = shape;
  if (form === 'ndjson') return records.map((record) => `${recordBody(shape, record, style)}\n`).join('');
  if (form !== 'csv') return undefined;
  const keys = keysOf(collectionIn(context.dataSet, collection), recordsOf(context, collection));
  const text = (stored: string): string => servedText(stored, style);
  return csvOf(records, { ...keys, idField: collection.idField }, names, text, joined);
}

function rootBody(style: LinkStyle): string {
  const served = COLLECTIONS.filter(({ versions }) => versions.includes(style.version));
  return `{${served.map(({ name }) => `${writeText(name)}:${writeText(linkTo(style, name))}`).join(',')}}`;
}

function recordBody({ shaped }: Shape, { json }: OracleRecord, style: LinkStyle): string {
  return writeJson(shaped(json), (text) => servedText(text, style));
}

function pageBody(context: Context, collection: Collection, judgement: Judgement, style: LinkStyle): string {
  const found = foundBy(context, collection, judgement, style);
  const limit = limitOf(context);
  const { view } = judgement;
  const world = worldOf(context, style);
  const facets = facetsMember(found, view, world);
  const shape = shapeOf(context, collection, judgement);
  if (view.after !== undefined) return afterBody(context, { shape, found, after: view.after, limit, style, facets });
  const offset = pageInteger(lastValue(context.pairs, 'offset'), 0n) ?? 0n;
  const isRanked = ['ordering', 'after'].every((name) => lastValue(context.pairs, name) === undefined);
  const rank = (record: OracleRecord): number => view.search?.rank(record.fitted, world) ?? 0;
  const ordered = isRanked ? found.toSorted((a, b) => rank(a) - rank(b)) : inOrder(found, view, world);
  const results = ordered.filter((_, i) => BigInt(i) >= offset && BigInt(i) < offset + limit);
  const exported = exportBody(context, shape, results, style);
  if (exported !== undefined) return exported;
  const link = (to: bigint): string =>
    writeText(`${style.baseUrl}${context.path}?${pageQuery(pinnedPairs(context), limit, to > 0n ? to : undefined)}`);
  const next = offset + limit < BigInt(found.length) ? link(offset + limit) : 'null';
  const previous = offset > 0n ? link(offset - limit) : 'null';
  const records = results.map((record) => recordBody(shape, record, style)).join(',');
  return `{"count":${found.length},"next":${next},"previous":${previous},"results":[${records}]${facets}}`;
}

function worldOf({ dataSet }: Context, style: LinkStyle): World {
  return {
    text: (stored) => servedText(stored, style),
    linked: (to, link) => linkedRecord(dataSet, to, link),
  };
}

/** All records that match a list's parameters. */
function foundBy(
  context: Context,
  collection: Collection,
  judgement: Judgement,
  style: LinkStyle,
): readonly OracleRecord[] {
  const world = worldOf(context, style);
  const { conditions, isEmpty, view } = judgement;
  return recordsOf(context, collection).filter(
    ({ fitted }) =>
      !isEmpty &&
      matches(fitted, conditions, world) &&
      view.extents.every((test) => test(fitted, world)) &&
      view.search?.matches(fitted, world) !== false,
  );
}

interface After {
  readonly shape: Shape;
  readonly found: readonly OracleRecord[];
  readonly after: bigint;
  readonly limit: bigint;
  readonly style: LinkStyle;
  readonly facets: string;
}

function afterBody(context: Context, { shape, found, after, limit, style, facets }: After): string {
  const behind = found.filter(({ id }) => id > after);
  const results = behind.filter((_, i) => BigInt(i) < limit);
  const exported = exportBody(context, shape, results, style);
  if (exported !== undefined) return exported;
  const kept = pinnedPairs(context).filter(([name]) => name !== 'after');
  const pairs: readonly Pair[] = [...kept, ['after', String(results.at(-1)?.id)]];
  const address = `${style.baseUrl}${context.path}?${pageQuery(pairs, limit, undefined)}`;
  const next = results.length < behind.length ? writeText(address) : 'null';
  const records = results.map((record) => recordBody(shape, record, style)).join(',');
  return `{"count":${found.length},"next":${next},"previous":null,"results":[${records}]${facets}}`;
}

/** The parameters of a request as its links repeat them: the served generation replaces any that is named. */
function pinnedPairs({ pairs, settings: { generation } }: Context): readonly Pair[] {
  if (generation === undefined) return pairs;
  return [...pairs.filter(([name]) => name !== 'generation'), ['generation', generation]];
}

function limitOf({ pairs, settings, form }: Context): bigint {
  const asked = pageInteger(lastValue(pairs, 'limit'), 1n);
  if (form !== 'json') return asked ?? 10n ** 30n;
  const limit = asked ?? 100n;
  const bound = settings.limitMax === undefined ? limit : BigInt(settings.limitMax);
  return limit < bound ? limit : bound;
}

function recordsOf({ dataSet }: Context, collection: Collection): readonly OracleRecord[] {
  return dataSet.get(collection.name) ?? [];
}

function styleOf({ settings }: Context, view: Exclude<View, { kind: 'index' }>, format: string): LinkStyle {
  const asked = { format: format === '' ? undefined : format, json: view.ending === 'json' };
  return { baseUrl: settings.baseUrl, version: view.version, form: settings.links === 'spec' ? 'api' : asked };
}

function options(view: View): OracleAnswer {
  const name = writeText(viewName(view));
  const body = `{"name":${name},"description":"","renders":["application/json","text/html"],"parses":${PARSES}}`;
  const answer = json(200, body, { allow: ALLOW });
  return view.kind === 'index' ? { ...answer, headers: { allow: ALLOW }, body: undefined } : answer;
}

function viewName(view: View): string {
  if (view.kind === 'list') return `${view.collection.title} List`;
  return view.kind === 'record' ? `${view.collections[0]?.title} Instance` : 'Api Root';
}

function goneTo(generation: string): OracleAnswer {
  const message = `This generation of the data is gone; ${generation} is served now. Begin again.`;
  const body = `{"detail":${writeText(message)},"generation":${writeText(generation)}}`;
  return json(410, body, { 'cache-control': 'no-store' });
}

function notFound(near = ''): OracleAnswer {
  return detail(404, `Not found.${near}`);
}

function detail(status: number, message: string, headers: OracleAnswer['headers'] = {}): OracleAnswer {
  return json(status, `{"detail":${writeText(message)}}`, headers);
}

function json(status: number, body: string, headers: OracleAnswer['headers']): OracleAnswer {
  const length = String(Buffer.byteLength(body));
  return { status, headers: { 'content-type': 'application/json', 'content-length': length, ...headers }, body };
}
