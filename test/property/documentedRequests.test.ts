// The OpenAPI document for generators drives requests: values are drawn from the schemas of its parameters, and each
// response is one that the document has, with a body of its schema.
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { servedSample } from '../conformance/sample.ts';
import { DocumentChecker, type OpenApiDocument, servedDocument } from '../support/documentChecker.ts';
import { times } from '../support/ring.ts';

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly minimum?: number;
  readonly examples?: readonly string[];
}

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required?: boolean;
  readonly style?: string;
  readonly schema: Schema;
}

interface Operation {
  readonly parameters: readonly (Parameter | { readonly $ref: string })[];
  readonly responses: object;
}

/** For the nightly number of requests. */
const TEST_MS_MAX = 300_000;

const sample = servedSample();
let document: OpenApiDocument;
let checker: DocumentChecker;
let operations: readonly (readonly [path: string, operation: Operation])[];
beforeAll(async () => {
  document = await servedDocument(sample.get, undefined, '/openapi.json');
  checker = new DocumentChecker(document);
  operations = Object.entries(document.paths as Readonly<Record<string, { readonly get: Operation }>>).map(
    ([path, { get }]) => [path, get],
  );
});

/** An object, or the component that it refers to. */
function resolved<T extends object>(object: T | { readonly $ref: string }): T {
  if (!('$ref' in object)) return object;
  const [kind, name] = object.$ref.split('/').slice(2);
  return (document.components as unknown as Record<string, Record<string, T>>)[kind!]![name!]!;
}

/** Null characters are refused everywhere; members of lists have no commas. */
const TEXT = fc.string({ unit: 'grapheme' }).filter((text) => !/[\0,]/.test(text));

/** A value of a schema, as clients write it. */
function valueOf(schema: Schema): fc.Arbitrary<string> {
  const { type, anyOf, items, minimum, examples, enum: values } = resolved(schema);
  if (values) return fc.constantFrom(...values);
  if (anyOf) return fc.oneof(...anyOf.map(valueOf));
  if (type === 'array') return fc.array(valueOf(items!), { minLength: 1, maxLength: 3 }).map((all) => all.join());
  if (type === 'boolean') return fc.boolean().map(String);
  if (type === 'integer') return fc.integer({ min: minimum ?? -(2 ** 31) }).map(String);
  if (type === 'number') return fc.double({ noNaN: true, noDefaultInfinity: true }).map(String);
  expect(type).toBe('string');
  return examples ? fc.constantFrom(...examples) : TEXT;
}

/** A target for an operation, with a value of each of these parameters. */
function targetOf(path: string, parameters: readonly Parameter[]): fc.Arbitrary<string> {
  return fc.tuple(...parameters.map(({ schema }) => valueOf(schema))).map((values) => {
    const written = parameters.map((one, i) => [one, encodeURIComponent(values[i]!)] as const);
    const query = written.flatMap(([one, value]) => (one.in === 'query' ? [`${one.name}=${value}`] : []));
    const inPath = new Map(written.map(([{ name }, value]) => [name, value]));
    return `${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => inPath.get(name)!)}?${query.join('&')}`;
  });
}

/** An operation with the parameters to draw from: all but `filters`, whose members any filter can be. */
function drawn([path, operation]: (typeof operations)[number]): readonly [string, Operation, readonly Parameter[]] {
  const parameters = operation.parameters.map((one) => resolved<Parameter>(one));
  return [path, operation, parameters.filter(({ style }) => style !== 'deepObject')];
}

test(
  'every list takes its filters with values of their schemas in strict mode, also as members of `filters`',
  async () => {
    const lists = operations
      .map(drawn)
      .filter(([path, { parameters }]) => parameters.length > 8 && !path.includes('{'));
    expect(lists).toHaveLength(34);
    const target = fc.constantFrom(...lists).chain(([path, operation, parameters]) => {
      const isShared = (parameter: Parameter): boolean =>
        operation.parameters.some((one) => '$ref' in one && resolved<Parameter>(one) === parameter);
      const filters = parameters.filter((parameter) => !isShared(parameter));
      const chosen = fc.subarray(filters, { minLength: 1, maxLength: Math.min(5, filters.length) });
      const asMember = (parameter: Parameter): Parameter => ({ ...parameter, name: `filters[${parameter.name}]` });
      return fc.tuple(chosen, fc.boolean()).chain(([some, areMembers]) => {
        return targetOf(path, areMembers ? some.map(asMember) : some);
      });
    });
    await fc.assert(
      fc.asyncProperty(target, async (filtered) => {
        const received = await sample.get(`${filtered}&strict=1&limit=20`);
        expect([filtered, received.status, received.body.slice(0, 200)]).toEqual([filtered, 200, expect.any(String)]);
        expect(checker.check({ target: filtered }, received)).toEqual([]);
      }),
      { numRuns: times(60, 1000) },
    );
  },
  TEST_MS_MAX,
);

test(
  'every operation responds to any of its parameters with a documented status and body',
  async () => {
    const target = fc.constantFrom(...operations.map(drawn)).chain(([path, { responses }, parameters]) => {
      const optional = parameters.filter((one) => !one.required);
      const some = fc.subarray(optional, { maxLength: Math.min(4, optional.length) });
      const required = parameters.filter((one) => one.required);
      const whole = some.chain((chosen) => targetOf(path, [...required, ...chosen]));
      return whole.map((one) => ({ target: one, statuses: Object.keys(responses) }));
    });
    await fc.assert(
      fc.asyncProperty(target, async ({ target: asked, statuses }) => {
        const received = await sample.get(asked);
        expect(statuses, asked).toContain(String(received.status));
        expect(received.status, asked).toBeLessThan(500);
        expect(checker.check({ target: asked }, received)).toEqual([]);
      }),
      { numRuns: times(60, 1000) },
    );
  },
  TEST_MS_MAX,
);

test('only the export of CSV has the parameter of its byte order mark, which strict mode refuses elsewhere', () => {
  const parametersIn = ({ parameters }: Operation): readonly string[] =>
    parameters.map((one) => resolved<Parameter>(one).name);
  const paths = operations.flatMap(([path, operation]) => (parametersIn(operation).includes('bom') ? [path] : []));
  expect(paths).toEqual(['/api/v3/{collection}.csv']);
});
