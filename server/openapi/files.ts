// The files that describe the API, by path: the OpenAPI document in both its forms, and the page that shows it with
// Swagger UI, which is served from here. Made when one is asked for first, and kept; knows no request and no thread.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { QueryOptions } from '../../engine/engine.ts';
import { installed } from '../settings/installation.ts';
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

/** For whom a document is made. */
export interface DocumentOrder {
  readonly baseUrl: string;
  readonly query: QueryOptions;
}

/** Its two forms. */
export interface DocumentTexts {
  readonly json: Uint8Array<ArrayBuffer>;
  readonly yaml: Uint8Array<ArrayBuffer>;
}

const DIGEST_DIGITS = 32;
const compressed = promisify(gzip);

/** The files under the settings of a server; `make` makes a document. */
export class DescriptionFiles {
  readonly #query: QueryOptions;
  readonly #make: (order: DocumentOrder) => Promise<DocumentTexts>;
  readonly #files = new Map<string, Promise<DescriptionFile>>();
  readonly #documents = new Map<string, Promise<DocumentTexts>>();

  constructor(query: QueryOptions, make: (order: DocumentOrder) => Promise<DocumentTexts>) {
    this.#query = query;
    this.#make = make;
  }

  /**
   * A file. Cost: a look-up, and for the first document of each base URL, of which a server has a few, making it.
   * Rejects where a file of the installation is missing, and with what making it is rejected with.
   */
  file(path: DescriptionPath, baseUrl: string): Promise<DescriptionFile> {
    const key = path.startsWith('/openapi.') ? `${path} ${baseUrl}` : path;
    const known = this.#files.get(key);
    if (known) return known;
    const made = this.#made(path, baseUrl);
    this.#files.set(key, made);
    made.catch(() => this.#files.delete(key));
    return made;
  }

  async #made(path: DescriptionPath, baseUrl: string): Promise<DescriptionFile> {
    const bytes = await this.#bytes(path, baseUrl);
    const digest = createHash('sha256').update(bytes).digest('hex').slice(0, DIGEST_DIGITS);
    return { type: TYPES[path], bytes, gzipped: await compressed(bytes), digest };
  }

  async #bytes(path: DescriptionPath, baseUrl: string): Promise<Uint8Array> {
    switch (path) {
      case '/openapi.json':
        return (await this.#document(baseUrl)).json;
      case '/openapi.yaml':
        return (await this.#document(baseUrl)).yaml;
      case '/docs/':
        return Buffer.from(DOCS_PAGE);
      case '/docs/docs.js':
        return Buffer.from(DOCS_SCRIPT);
      case '/docs/swagger-ui-bundle.js':
      case '/docs/swagger-ui.css':
        return readFile(installed(SWAGGER_UI + path.slice('/docs/'.length)));
    }
  }

  #document(baseUrl: string): Promise<DocumentTexts> {
    const known = this.#documents.get(baseUrl);
    if (known) return known;
    const made = this.#make({ baseUrl, query: this.#query });
    this.#documents.set(baseUrl, made);
    made.catch(() => this.#documents.delete(baseUrl));
    return made;
  }
}

/** In a checkout a tool of development; a package has a copy, so that it installs none. */
const SWAGGER_UI = import.meta.url.endsWith('.ts') ? 'node_modules/swagger-ui-dist/' : 'dist/docs/';

const TYPES: Readonly<Record<DescriptionPath, string>> = {
  '/openapi.json': 'application/json',
  '/openapi.yaml': 'application/yaml',
  '/docs/': 'text/html; charset=utf-8',
  '/docs/docs.js': 'text/javascript; charset=utf-8',
  '/docs/swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  '/docs/swagger-ui.css': 'text/css; charset=utf-8',
};
