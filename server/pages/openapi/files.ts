// The files that describe the API, by path: the OpenAPI document in both forms (documents.ts), and the page that shows
// it with Swagger UI, which is served from here.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { DocumentPath, PagePath } from '../../catalogue/routes.ts';
import { DOCS_PAGE, DOCS_SCRIPT } from './page.ts';

/** A file: its bytes, also compressed, and a digest of its content. */
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

const DIGEST_DIGITS = 32;
const compressed = promisify(gzip);
const { resolve } = createRequire(import.meta.url);

const pageFiles = new Map<PagePath, Promise<DescriptionFile>>();

/** A file of the page, made at its first request. Rejects if the installation lacks it or it cannot be read now. */
export function pageFile(path: PagePath): Promise<DescriptionFile> {
  const known = pageFiles.get(path);
  if (known) return known;
  const file = pageBytes(path).then((bytes) => fileOf(path, bytes));
  pageFiles.set(path, file);
  file.catch(() => pageFiles.delete(path));
  return file;
}

async function pageBytes(path: PagePath): Promise<Uint8Array> {
  if (path === '/docs/') return Buffer.from(DOCS_PAGE);
  if (path === '/docs/docs.js') return Buffer.from(DOCS_SCRIPT);
  return readFile(resolve(`swagger-ui-dist${path.slice('/docs'.length)}`));
}

/** The file of these bytes. Cost: compresses and hashes them. */
export async function fileOf(path: DocumentPath | PagePath, bytes: Uint8Array): Promise<DescriptionFile> {
  const digest = createHash('sha256').update(bytes).digest('hex').slice(0, DIGEST_DIGITS);
  return { type: TYPES[path], bytes, gzipped: await compressed(bytes), digest };
}

const TYPES: Readonly<Record<DocumentPath | PagePath, string>> = {
  '/openapi.json': 'application/json',
  '/openapi.yaml': 'application/yaml',
  '/docs/': 'text/html; charset=utf-8',
  '/docs/docs.js': 'text/javascript; charset=utf-8',
  '/docs/swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  '/docs/swagger-ui.css': 'text/css; charset=utf-8',
};
