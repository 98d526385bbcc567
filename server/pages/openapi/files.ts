// The files of the page that shows the OpenAPI document with Swagger UI, and robots.txt.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { DocumentPath, PagePath, RobotsPath } from '../../catalogue/routes.ts';

/** The addresses are relative, so that the page also works below the path of a base URL. */
const TRY_PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Catalogue: try the API</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="../swagger-ui.css">
    <script src="../swagger-ui-bundle.js" defer></script>
    <script src="../docs.js" type="module"></script>
  </head>
  <body>
    <div id="docs"></div>
    <noscript>This page needs scripts. The <a href="../">documentation</a> does not.</noscript>
  </body>
</html>
`;

/**
 * Removes the examples and defaults of optional parameters: Swagger UI would send all of them at once, though some
 * exclude others. Requests go to the origin of the page. If the server is too busy to send the document, the page shows
 * that.
 */
const DOCS_SCRIPT = `const dark = matchMedia('(prefers-color-scheme: dark)');
dark.onchange = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.onchange();
const response = await fetch('../../openapi.json');
if (response.ok) show(await response.json());
else tell(['openapi.json was answered with', response.status, response.statusText].join(' ').trim());

function tell(what) {
  const place = document.querySelector('#docs');
  place.setAttribute('role', 'alert');
  place.textContent = what + '. Load this page again in a moment to try it again.';
}

function show(spec) {
  const operations = Object.values(spec.paths).flatMap(({ get }) => get.parameters);
  for (const parameter of [...operations, ...Object.values(spec.components.parameters)]) {
    if (parameter.name === 'filters') parameter.example = {};
    else if (!parameter.required) delete parameter.example;
    delete parameter.schema?.default;
    delete parameter.schema?.examples;
  }
  spec.servers = [{ url: location.pathname.replace(/\\/docs\\/.*/, '') || '/' }];
  SwaggerUIBundle({
    spec,
    dom_id: '#docs',
    deepLinking: true,
    docExpansion: 'none',
    filter: true,
    defaultModelsExpandDepth: -1,
    validatorUrl: null,
  });
}
`;

export interface DescriptionFile {
  readonly type: string;
  readonly bytes: Uint8Array;
  readonly gzipped: Uint8Array;
  /** SHA-256 of the uncompressed bytes. */
  readonly digest: string;
}

/** The page may load only from this server, and images that its style sheet embeds. */
export const DOCS_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const DIGEST_DIGITS = 32;
const compressed = promisify(gzip);
const { resolve } = createRequire(import.meta.url);

const pageFiles = new Map<PagePath, Promise<DescriptionFile>>();

/**
 * A file of the page, read on its first request and then cached. Rejects if the file is not installed or cannot be read
 * now.
 */
export function pageFile(path: PagePath): Promise<DescriptionFile> {
  const known = pageFiles.get(path);
  if (known) return known;
  const file = pageBytes(path).then((bytes) => fileOf(path, bytes));
  pageFiles.set(path, file);
  file.catch(() => pageFiles.delete(path));
  return file;
}

async function pageBytes(path: PagePath): Promise<Uint8Array> {
  if (path === '/docs/api/') return Buffer.from(TRY_PAGE);
  if (path === '/docs/docs.js') return Buffer.from(DOCS_SCRIPT);
  return readFile(resolve(`swagger-ui-dist${path.slice('/docs'.length)}`));
}

/**
 * The rules for crawlers below a base path. They allow all pages without a query, and all pages of unfiltered lists.
 * Any other query combines filters, orders and columns, and there is no end of these. The longest matching rule
 * applies. The sitemap needs an absolute address.
 */
export function robotsFile(baseUrl: string, base: string): Promise<DescriptionFile> {
  const rules = [
    'User-agent: *',
    `Disallow: ${base}/api/`,
    `Disallow: ${base}/browse/*?`,
    `Allow: ${base}/browse/*/?offset=`,
    `Sitemap: ${baseUrl}/sitemap.xml`,
  ];
  return fileOf('/robots.txt', Buffer.from(`${rules.join('\n')}\n`));
}

/** Cost: compresses and hashes the bytes. */
export async function fileOf(path: DocumentPath | PagePath | RobotsPath, bytes: Uint8Array): Promise<DescriptionFile> {
  const digest = createHash('sha256').update(bytes).digest('hex').slice(0, DIGEST_DIGITS);
  return { type: TYPES[path], bytes, gzipped: await compressed(bytes), digest };
}

const TYPES: Readonly<Record<DocumentPath | PagePath | RobotsPath, string>> = {
  '/robots.txt': 'text/plain; charset=utf-8',
  '/openapi.json': 'application/json',
  '/openapi.yaml': 'application/yaml',
  '/docs/api/': 'text/html; charset=utf-8',
  '/docs/docs.js': 'text/javascript; charset=utf-8',
  '/docs/swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  '/docs/swagger-ui.css': 'text/css; charset=utf-8',
};
