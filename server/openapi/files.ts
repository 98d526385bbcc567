// The files that describe the API, by path: the OpenAPI document in both its forms, and the page that shows it with
// Swagger UI, which is served from here. Made when one is asked for first, and kept, documents until the data has other
// fields; knows no request and no thread.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { RecordShape } from '../../engine/described.ts';
import type { QueryOptions } from '../../engine/engine.ts';
import { DOCS_PAGE, DOCS_SCRIPT } from './page.ts';

/** Their paths. */
export type DescriptionPath =
  | '/openapi.json'
  | '/openapi.yaml'
  | '/docs/'
  | '/docs/docs.js'
  | '/docs/swagger-ui-bundle.js'
  | '/docs/swagger-ui.css';

/** A file: its bytes, also compressed, and a digest of them that is no other file's. */
export interface DescriptionFile {
  readonly type: string;
  readonly bytes: Uint8Array;
  readonly gzipped: Uint8Array;
  readonly digest: string;
}

/** Where the page comes from and what it may reach: this server, and pictures in the style sheet. */
export const DOCS_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** For whom and of what a document is made. */
export interface DocumentOrder {
  readonly baseUrl: string;
  readonly query: QueryOptions;
  readonly shapes: readonly RecordShape[];
}

/** Its two forms. */
export interface DocumentTexts {
  readonly json: Uint8Array<ArrayBuffer>;
  readonly yaml: Uint8Array<ArrayBuffer>;
}

const DIGEST_DIGITS = 32;
const compressed = promisify(gzip);
const { resolve } = createRequire(import.meta.url);

/** The documents of shapes by their base URLs, and their files by path and base URL; `digest` is one of the shapes. */
interface Documents {
  readonly digest: string;
  readonly texts: Map<string, Promise<DocumentTexts>>;
  readonly files: Map<string, Promise<DescriptionFile>>;
}

/** The files under the settings of a server; `make` makes a document. */
export class DescriptionFiles {
  readonly #query: QueryOptions;
  readonly #make: (order: DocumentOrder) => Promise<DocumentTexts>;
  readonly #files = new Map<string, Promise<DescriptionFile>>();
  #shapes: readonly RecordShape[] | undefined;
  #documents: Documents | undefined;

  constructor(query: QueryOptions, make: (order: DocumentOrder) => Promise<DocumentTexts>) {
    this.#query = query;
    this.#make = make;
  }

  /**
   * A file, a document of these shapes. Cost: a look-up, and for the first document of each base URL, of which a server
   * has a few, making it; of new shapes a digest. Rejects where a file of the installation is missing, and with what
   * making it is rejected with.
   */
  file(path: DescriptionPath, baseUrl: string, shapes: () => readonly RecordShape[]): Promise<DescriptionFile> {
    switch (path) {
      case '/openapi.json':
      case '/openapi.yaml':
        return this.#document(path, baseUrl, shapes());
      case '/docs/':
        return kept(this.#files, path, () => fileOf(path, Buffer.from(DOCS_PAGE)));
      case '/docs/docs.js':
        return kept(this.#files, path, () => fileOf(path, Buffer.from(DOCS_SCRIPT)));
      case '/docs/swagger-ui-bundle.js':
      case '/docs/swagger-ui.css':
        return kept(this.#files, path, async () => {
          return fileOf(path, await readFile(resolve(`swagger-ui-dist${path.slice('/docs'.length)}`)));
        });
    }
  }

  #document(
    path: '/openapi.json' | '/openapi.yaml',
    baseUrl: string,
    shapes: readonly RecordShape[],
  ): Promise<DescriptionFile> {
    const { texts, files } = this.#documentsOf(shapes);
    return kept(files, `${path} ${baseUrl}`, async () => {
      const made = await kept(texts, baseUrl, () => this.#make({ baseUrl, query: this.#query, shapes }));
      return fileOf(path, path === '/openapi.json' ? made.json : made.yaml);
    });
  }

  /** Equal shapes are one after the other: new data has mostly those of the old. */
  #documentsOf(shapes: readonly RecordShape[]): Documents {
    if (this.#documents && this.#shapes === shapes) return this.#documents;
    const digest = digestOf(JSON.stringify(shapes));
    const documents =
      this.#documents?.digest === digest ? this.#documents : { digest, texts: new Map(), files: new Map() };
    this.#shapes = shapes;
    this.#documents = documents;
    return documents;
  }
}

/** What is promised under a key, made where nothing is; what is rejected is forgotten. */
function kept<T>(promises: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  const known = promises.get(key);
  if (known) return known;
  const made = make();
  promises.set(key, made);
  made.catch(() => promises.delete(key));
  return made;
}

async function fileOf(path: DescriptionPath, bytes: Uint8Array): Promise<DescriptionFile> {
  return { type: TYPES[path], bytes, gzipped: await compressed(bytes), digest: digestOf(bytes) };
}

function digestOf(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, DIGEST_DIGITS);
}

const TYPES: Readonly<Record<DescriptionPath, string>> = {
  '/openapi.json': 'application/json',
  '/openapi.yaml': 'application/yaml',
  '/docs/': 'text/html; charset=utf-8',
  '/docs/docs.js': 'text/javascript; charset=utf-8',
  '/docs/swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  '/docs/swagger-ui.css': 'text/css; charset=utf-8',
};
