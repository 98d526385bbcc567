// The files that pages load: one style sheet, one script and the coastlines of maps. Their names contain digests of
// their content, so that clients can cache them forever. They are read when the first page is built. Their sources are
// in assets/.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { installed } from '../../settings/values.ts';

/** A file as it is served. */
export interface Asset {
  /** Last segment of its path. */
  readonly name: string;
  readonly type: string;
  readonly bytes: Uint8Array;
  readonly gzipped: Uint8Array;
  readonly digest: string;
}

const DIGEST_DIGITS = 16;

const ASSETS_PATH = 'browse/assets/';

/** Read on first use instead of on import: Node would cache an import that fails for lack of a descriptor. */
let read: { readonly style: Asset; readonly script: Asset; readonly land: Asset } | undefined;

function assets(): NonNullable<typeof read> {
  return (read ??= {
    style: assetOf('browse', 'css', 'text/css; charset=utf-8'),
    script: assetOf('browse', 'js', 'text/javascript; charset=utf-8'),
    land: assetOf('land', 'svg', 'image/svg+xml'),
  });
}

/** The path of a file below the root. */
export function assetPath(of: keyof NonNullable<typeof read>): string {
  return ASSETS_PATH + assets()[of].name;
}

export function assetNamed(name: string): Asset | undefined {
  return Object.values(assets()).find((asset) => asset.name === name);
}

function assetOf(stem: string, ending: string, type: string): Asset {
  const bytes = readFileSync(installed(`server/pages/browse/assets/${stem}.${ending}`));
  const digest = createHash('sha256').update(bytes).digest('hex').slice(0, DIGEST_DIGITS);
  return { name: `${stem}-${digest}.${ending}`, type, bytes, gzipped: gzipSync(bytes), digest };
}
