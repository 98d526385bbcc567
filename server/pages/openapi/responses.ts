// The parameters and responses of the OpenAPI document, and the operations of a path. The filters of a collection are
// one parameter, shared by reference.
import { type DocumentObject, INFERRED_LISTED_MAX, refsTo, refTo, wordOf } from './schemas.ts';
import { EXPORT_TYPES, limitWithout, PARAMETERS, type QueryOptions, type View } from '../../../engine/engine.ts';

/** The GET operation of a path. */
export interface DocumentedView {
  readonly id: string;
  readonly summary: string;
  readonly tag: string;
  readonly parameters: readonly DocumentObject[];
  /** The 200 response. */
  readonly found: DocumentObject;
  /** All other responses, by status. */
  readonly failed: DocumentObject;
}

/** A path with GET only. The parameters belong to the operation, because some tools look for them only there. */
export function operationItem({ id, summary, tag, parameters, found, failed }: DocumentedView): DocumentObject {
  return { get: { operationId: id, summary, tags: [tag], parameters, responses: { 200: found, ...failed } } };
}

/** A path with GET, HEAD and OPTIONS. */
export function viewItem({ id, summary, tag, parameters, found, failed }: DocumentedView): DocumentObject {
  const tags = [tag];
  const { 304: notModified, ...others } = failed;
  return {
    ...(parameters.length === 0 ? {} : { parameters }),
    get: { operationId: id, summary, tags, responses: { 200: found, ...failed } },
    head: {
      operationId: `${id}Head`,
      summary: `${summary}: the headers`,
      tags,
      responses: { 200: refTo('responses', 'Head'), 304: notModified, ...others },
    },
    options: {
      operationId: `${id}Options`,
      summary: `${summary}: the methods`,
      tags,
      responses: { 200: refTo('responses', 'View'), ...refsTo('responses', { 404: 'NotFound' }) },
    },
  };
}

/** A list is sent as comma-separated values. */
export const LIST_STYLE: DocumentObject = { style: 'form', explode: false };

/** The parameters that exist under these settings, by the name of their component. */
export function parameterComponents(options: QueryOptions): DocumentObject {
  const offered = offeredParameters(options).map(({ name, value, schema, example, meaning }) => {
    const style = 'items' in schema ? LIST_STYLE : {};
    const description = `${meaning[0]!.toUpperCase()}${meaning.slice(1)}. Value: ${value}.`;
    const own = name === 'limit' ? { ...schema, default: limitWithout(options, undefined) } : schema;
    const shown = example === undefined ? {} : { example };
    return [wordOf(name), { name, in: 'query', description, schema: own, ...style, ...shown }] as const;
  });
  const format = Object.fromEntries(offered)[wordOf('format')]!;
  const plain = { ...format, description: PLAIN_FORMAT, schema: { type: 'string', enum: ['api', 'json'] } };
  const id = { name: 'id', in: 'path', required: true, description: 'Id of the record.', schema: { type: 'integer' } };
  return { ...Object.fromEntries(offered), PlainFormat: plain, Id: { ...id, example: 141 } };
}

const PLAIN_FORMAT = 'The form: `api`, `json` and none are the same JSON. Value: `api`, `json`.';

/** The parameters that exist under these settings. */
export function offeredParameters(options: QueryOptions): typeof PARAMETERS {
  return PARAMETERS.filter(({ setting }) => setting === undefined || options[setting] === true);
}

/** References to the parameters of a view, except those in `excluded`. */
export function parametersOf(
  view: View,
  options: QueryOptions,
  excluded: readonly string[] = [],
): readonly DocumentObject[] {
  const heeded = offeredParameters(options).filter(
    ({ name, views }) => views.includes(view) && !excluded.includes(name),
  );
  // The root view has no exports (A62).
  const wordIn = (name: string): string => (name === 'format' && view === 'root' ? 'PlainFormat' : wordOf(name));
  return heeded.map(({ name }) => refTo('parameters', wordIn(name)));
}

/** Returns whether lists have a parameter of this name under these settings. A filter cannot have such a name. */
export function isListParameter(options: QueryOptions): (name: string) => boolean {
  const heeded = new Set(
    offeredParameters(options).flatMap(({ name, views }) => (views.includes('list') ? [name] : [])),
  );
  return (name) => heeded.has(name);
}

const FILTERS = `One query parameter for each member: \`<field>=<value>\` or \`<field>__<lookup>=<value>\`. \`!\` behind
either negates. A link, or a list of links, is also a step to the fields of the records that it leads to, up to six
steps deep: \`projects__title__contains=ice\`. Of the fields that only the data has, ${INFERRED_LISTED_MAX} are members; others can be
filtered too. All conditions must hold.`;

/** The filters of a collection as one object. Clients send each of its members as a separate parameter. */
export function filtersParameter(schema: string, example: DocumentObject): DocumentObject {
  const description = FILTERS.replace(/\n/g, ' ');
  const style = { style: 'form', explode: true };
  return { name: 'filters', in: 'query', description, ...style, schema: refTo('schemas', schema), example };
}

const OTHER_FILTERS_TEXT = `Filters that are no parameters of their own, each as a member: with any field and lookup, such as
\`title__iregex\` or \`volume__gt\`; with \`!\` behind either to negate; or over links to the fields of other records, up
to six steps deep: \`projects__title__icontains\`. They may be sent as plain parameters too, without brackets.`;

/** The filters without a separate parameter, as one object. Generated clients use this style for objects (A151). */
export const OTHER_FILTERS: DocumentObject = {
  name: 'filters',
  in: 'query',
  description: OTHER_FILTERS_TEXT.replace(/\n/g, ' '),
  style: 'deepObject',
  explode: true,
  schema: { type: 'object', additionalProperties: { type: ['string', 'number', 'boolean'] } },
};

const text = (description: string, example: string): DocumentObject => ({
  description,
  schema: { type: 'string' },
  example,
});

export const HEADERS: Readonly<Record<string, DocumentObject>> = {
  'Accept-Ranges': text('`bytes` for exports, which may be read in ranges.', 'none'),
  Allow: text('The methods of the path.', 'GET, HEAD, OPTIONS'),
  'Cache-Control': text('How long the answer may be kept, and by whom.', 'public, no-cache'),
  ETag: text('Names the bytes of the answer, for If-None-Match.', '"a1b2c3d4e5f60718-0123456789abcdef"'),
  'Last-Modified': text('When the data last changed, for If-Modified-Since.', 'Thu, 01 Feb 2024 03:04:05 GMT'),
  Vary: text('The headers of the request on which the answer depends.', 'Accept, Accept-Encoding'),
  'Content-Range': text('The bytes of a 206, and the length of the whole export.', 'bytes 0-99/4096'),
  'Content-Encoding': text('`gzip` where the client takes it and it pays.', 'gzip'),
  Link: text('Of the index: where the API is described (RFC 8631).', '<openapi.json>; rel="service-desc"'),
  'X-Total-Count': text('How many records the whole filtered list has.', '500'),
  'Content-Disposition': text('A name for the file of an export.', 'attachment; filename="export.csv"'),
  'X-Ignored-Params': text('Parameters and names without effect, percent-encoded.', 'page, ordering=foo'),
  'X-Request-Id': text('With `--access-log`: the id of the request there.', '0123456789abcdef0123456789abcdef'),
  'X-Generation': text('The generation of the data.', '0123456789ab'),
  'Server-Timing': text('Milliseconds that the answer took.', 'pool;dur=12.3'),
  'Retry-After': text('Seconds to wait before the next try.', '1'),
  'Access-Control-Allow-Origin': text('Every origin may read the answer.', '*'),
  'Access-Control-Expose-Headers': text('Headers that scripts may read.', 'Allow, ETag'),
  'Access-Control-Allow-Methods': text('The methods that scripts may use.', 'GET, HEAD, OPTIONS'),
  'Access-Control-Allow-Headers': text('The headers that scripts may send.', '*'),
  'Access-Control-Max-Age': text('Seconds for which that may be remembered.', '86400'),
};

const OPEN = [
  'Access-Control-Allow-Origin',
  'Access-Control-Expose-Headers',
  'Server-Timing',
  'X-Generation',
  'X-Request-Id',
];
const FOUND = [
  'Accept-Ranges',
  'Allow',
  'Cache-Control',
  'Content-Disposition',
  'Content-Encoding',
  'ETag',
  'Last-Modified',
  'Link',
  'Vary',
  'X-Ignored-Params',
  'X-Total-Count',
];
const ERROR = ['Allow', 'Cache-Control', 'Vary', ...OPEN];
const UNSTORED = ['Vary', 'Allow', 'Cache-Control', ...OPEN];
const PREFLIGHT = ['Access-Control-Allow-Methods', 'Access-Control-Allow-Headers', 'Access-Control-Max-Age'];

function headers(names: readonly string[]): DocumentObject {
  return refsTo('headers', Object.fromEntries(names.map((name) => [name, name])));
}

export function foundResponse(description: string, content: DocumentObject): DocumentObject {
  return { description, headers: headers([...FOUND, ...OPEN]), content };
}

export function jsonContent(schema: DocumentObject, example?: unknown): DocumentObject {
  return { 'application/json': { schema, ...(example === undefined ? {} : { example }) } };
}

function failure(description: string, names: readonly string[], schema: string, example: unknown): DocumentObject {
  return { description, headers: headers(names), content: jsonContent(refTo('schemas', schema), example) };
}

/** Responses that several views share, by the name of their component. */
export const RESPONSES: Readonly<Record<string, DocumentObject>> = {
  Head: { description: 'The headers of GET, without a body.', headers: headers([...FOUND, ...OPEN]) },
  View: {
    description: 'What the view is called, and the answer to a preflight.',
    headers: headers([...ERROR, ...PREFLIGHT]),
    content: jsonContent(refTo('schemas', 'View')),
  },
  NotModified: {
    description: 'The client has the answer already.',
    headers: headers(['Cache-Control', 'ETag', 'Vary', ...OPEN]),
  },
  BadRequest: failure('A parameter is wrong.', ERROR, 'Problems', { limit: ['Enter a whole number.'] }),
  NotFound: failure('There is no such path, record or format.', ERROR, 'Detail', { detail: 'Not found.' }),
  MethodNotAllowed: failure('The API is read-only.', ERROR, 'Detail', { detail: 'Method "POST" not allowed.' }),
  NotAcceptable: failure('Accept rules JSON out.', ERROR, 'Detail', {
    detail: 'Could not satisfy the request Accept header.',
  }),
  Part: {
    description: 'The requested range of an export.',
    headers: headers([...FOUND, 'Content-Range', ...OPEN]),
    content: Object.fromEntries(Object.values(EXPORT_TYPES).map((type) => [type, { schema: { type: 'string' } }])),
  },
  Unsatisfiable: failure('The export has no byte in the requested range.', [...ERROR, 'Content-Range'], 'Detail', {
    detail: 'Range not satisfiable: the export has 4096 bytes.',
  }),
  Gone: failure(
    'Another generation of the data is served than the one that the walk began in (with `--pin-walks`), or the change ' +
      'log does not reach from the generation of the copy.',
    UNSTORED,
    'Detail',
    {
      detail: 'This generation of the data is gone; 0123456789ab is served now. Begin again.',
      generation: '0123456789ab',
    },
  ),
  Unavailable: failure(
    'Too much is under way for this one, or it took too long.',
    [...UNSTORED, 'Retry-After'],
    'Detail',
    { detail: 'Too many heavy queries at the moment; try again shortly.' },
  ),
  Refused: failure(
    'What is refused before it is looked at, or a bug. 431, to heads beyond 64 kB, has no JSON.',
    ERROR,
    'Detail',
    {
      detail:
        'Malformed request. Blanks and characters beyond ASCII are percent-encoded in an address; GET and HEAD have no body.',
    },
  ),
};

/**
 * `oneForm` and `changes` ignore Accept; the others may respond 406. A `page` is a list in one format, and may respond
 * 410. A `record` and a `list` have exports, which support ranges.
 */
type ViewKind = 'oneForm' | 'negotiated' | 'page' | 'record' | 'list' | 'changes';

/** All responses of a view except 200, by status. If walks are pinned, a list may respond 410. */
export function failures(of: ViewKind, pinsWalks: boolean): DocumentObject {
  const hasExports = of === 'record' || of === 'list';
  return refsTo('responses', {
    ...(hasExports ? { 206: 'Part', 416: 'Unsatisfiable' } : {}),
    304: 'NotModified',
    400: 'BadRequest',
    404: 'NotFound',
    405: 'MethodNotAllowed',
    ...(of === 'oneForm' || of === 'changes' ? {} : { 406: 'NotAcceptable' }),
    ...(((of === 'list' || of === 'page') && pinsWalks) || of === 'changes' ? { 410: 'Gone' } : {}),
    503: 'Unavailable',
    default: 'Refused',
  });
}
