// Checks responses against the OpenAPI document of their server: path, method, status, headers, media type and body. It
// shares no code with the product. It supports as much of OpenAPI 3.1 as the document uses.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { gunzipSync } from 'node:zlib';
import { vi } from 'vitest';
import type { Received, Sent } from './client.ts';

interface ResponseObject {
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
}
interface Reference {
  readonly $ref: string;
}
interface Operation {
  readonly responses: Readonly<Record<string, ResponseObject | Reference>>;
}
type PathItem = Readonly<Partial<Record<'get' | 'head' | 'options', Operation>>>;

/** The part of a document that is checked here. */
export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, PathItem | Reference>>;
  readonly components: { readonly schemas: object; readonly responses: Readonly<Record<string, ResponseObject>> };
}

/**
 * The complete document of a server, or another one. Waits while the server cannot make it yet; then fails with the
 * last response.
 */
export async function servedDocument(
  get: (target: string) => Promise<Pick<Received, 'status' | 'body'>>,
  waitMs = 30_000,
  target = '/openapi.json?spellings=all',
): Promise<OpenApiDocument> {
  return vi.waitFor(
    async () => {
      const { status, body } = await get(target);
      if (status !== 200) throw new Error(`${target}: ${status} ${body.slice(0, 200)}`);
      return JSON.parse(body) as OpenApiDocument;
    },
    { timeout: waitMs, interval: 100 },
  );
}

/** Headers that the transport adds to every response. */
const OF_TRANSPORT = ['connection', 'content-length', 'content-type', 'date', 'keep-alive', 'uwebsockets'];
/** Statuses that any request can be refused with, whatever its path: OpenAPI's `default`. */
const REFUSED = [400, 431, 500, 505];

/** Returns the deviations of a response from the document, one line each. */
export class DocumentChecker {
  readonly #document: OpenApiDocument;
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false });
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(document: OpenApiDocument) {
    this.#document = document;
    // Schemas of filters occur in no response, and make up half of the document.
    const ofAnswers = Object.entries(document.components.schemas).filter(([name]) => !name.endsWith('Filters'));
    this.#ajv.addSchema({ $id: 'document', components: { schemas: Object.fromEntries(ofAnswers) } });
  }

  check({ method = 'GET', target }: Sent, received: Received): readonly string[] {
    const problems = this.#problems(method, pathOf(target), received);
    return problems.map((problem) => `${method} ${target}: ${received.status}: ${problem}`);
  }

  #problems(method: string, path: string, received: Received): readonly string[] {
    const { status } = received;
    const item = this.#itemOf(path);
    if (!item) {
      const isMoved = status === 301 && this.#itemOf(`${path}/`) !== undefined;
      if (isMoved) return received.headers['location'] === undefined ? ['a redirection without Location'] : [];
      const refused = this.#document.components.responses[status === 404 ? 'NotFound' : 'Refused']!;
      return [404, ...REFUSED].includes(status) ? this.#responseProblems(refused, received) : ['no such path'];
    }
    const operation = method === 'HEAD' ? item.head : method === 'OPTIONS' ? item.options : item.get;
    const response = operation?.responses[status] ?? (REFUSED.includes(status) && operation?.responses['default']);
    if (!response) return ['no such status'];
    return this.#responseProblems(this.#resolved(response), received, method === 'HEAD');
  }

  #responseProblems({ headers = {}, content = {} }: ResponseObject, received: Received, isHead = false): string[] {
    const known = new Set([...OF_TRANSPORT, ...Object.keys(headers).map((name) => name.toLowerCase())]);
    const problems = Object.keys(received.headers).filter((name) => !known.has(name));
    const unknown = problems.map((name) => `no such header: ${name}`);
    if (isHead || received.bytes.length === 0) return unknown;
    const type = received.headers['content-type']?.split(';', 1)[0] ?? '';
    const media = content[type];
    if (!media) return [...unknown, `no such media type: ${type}`];
    if (type !== 'application/json') return unknown;
    const isCompressed = received.headers['content-encoding'] === 'gzip';
    const body: unknown = JSON.parse(isCompressed ? gunzipSync(received.bytes).toString() : received.body);
    const validate = this.#validatorOf(media.schema);
    return validate(body) ? unknown : [...unknown, this.#ajv.errorsText(validate.errors)];
  }

  #validatorOf(schema: object): ValidateFunction {
    const text = JSON.stringify(schema).replaceAll('"#/', '"document#/');
    const known = this.#validators.get(text);
    if (known) return known;
    const made = this.#ajv.compile(JSON.parse(text) as object);
    this.#validators.set(text, made);
    return made;
  }

  #itemOf(path: string): PathItem | undefined {
    const { paths } = this.#document;
    // An id may have any spelling of an integer, or be invalid.
    const item =
      paths[path] ??
      this.#resolutionOf(path) ??
      paths[path.replace(/\/[^/]+?(\.json\/?|\/)$/, '/{id}$1')] ??
      paths[path.replace(/[a-z]+(?=\.[a-z]+$)/, '{collection}')];
    return item && this.#resolved(item);
  }

  /** Finds a path whose last parameter may contain slashes. */
  #resolutionOf(path: string): PathItem | Reference | undefined {
    const open = Object.keys(this.#document.paths).find((one) => {
      return one.startsWith('/api/v0/') && one.endsWith('}') && path.startsWith(one.slice(0, one.indexOf('/{')));
    });
    return open === undefined ? undefined : this.#document.paths[open];
  }

  /** Follows a reference. */
  #resolved<T extends object>(object: T | Reference): T {
    if (!('$ref' in object)) return object;
    const steps = decodeURIComponent(object.$ref).split('/').slice(1);
    const names = steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
    const found = names.reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], this.#document);
    return this.#resolved(found as T | Reference);
  }
}

/** The decoded path of a target, or the raw one if it cannot be decoded. */
function pathOf(target: string): string {
  const [path = ''] = target.split('?', 1);
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
