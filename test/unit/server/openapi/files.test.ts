// Which files are kept and which are made anew, counted of what makes documents.
import { beforeEach, expect, test } from 'vitest';
import { queryOptionsOf } from '../../../../server/catalogue/catalogue.ts';
import {
  DescriptionFiles,
  type DescriptionPath,
  type DocumentOrder,
  type DocumentTexts,
} from '../../../../server/openapi/files.ts';
import { readSettings } from '../../../../server/settings/declarations.ts';

type Shapes = DocumentOrder['shapes'];

const shapesWith = (...others: readonly string[]): Shapes => [{ name: 'notes', fields: [], others }];
let orders: DocumentOrder[];
let files: DescriptionFiles;
beforeEach(() => {
  orders = [];
  files = new DescriptionFiles(queryOptionsOf(readSettings({}, {})), (order) => {
    orders.push(order);
    return Promise.resolve(textsOf(order));
  });
});

function textsOf({ baseUrl, shapes }: DocumentOrder): DocumentTexts {
  const bytes = (form: string): Uint8Array<ArrayBuffer> =>
    new TextEncoder().encode(JSON.stringify([form, baseUrl, shapes]));
  return { json: bytes('json'), yaml: bytes('yaml') };
}

async function textAt(path: DescriptionPath, baseUrl: string, shapes: Shapes): Promise<unknown> {
  return JSON.parse(Buffer.from((await files.file(path, baseUrl, () => shapes)).bytes).toString());
}

test('a document is made once for each base URL, in both its forms', async () => {
  const shapes = shapesWith('a b');
  for (const path of ['/openapi.json', '/openapi.yaml', '/openapi.json'] as const) {
    for (const baseUrl of ['http://a', 'http://b']) {
      expect(await textAt(path, baseUrl, shapes)).toEqual([path.slice('/openapi.'.length), baseUrl, shapes]);
    }
  }
  expect(orders.map(({ baseUrl }) => baseUrl)).toEqual(['http://a', 'http://b']);
});

test('equal shapes have the same document, others another one, and so they have again', async () => {
  const first = await files.file('/openapi.json', 'http://a', () => shapesWith('a b'));
  expect(await files.file('/openapi.json', 'http://a', () => shapesWith('a b'))).toBe(first);
  const second = await files.file('/openapi.json', 'http://a', () => shapesWith('c d'));
  expect(second.digest).not.toBe(first.digest);
  expect((await files.file('/openapi.json', 'http://a', () => shapesWith('a b'))).digest).toBe(first.digest);
  expect(orders).toHaveLength(3);
});

test('the page is the same for all, and asks for no shapes', async () => {
  const none = (): Shapes => {
    throw new Error('shapes are not asked for');
  };
  expect(await files.file('/docs/', 'http://a', none)).toBe(await files.file('/docs/', 'http://b', none));
  expect(orders).toEqual([]);
});

test('what could not be made is made when it is asked for again', async () => {
  let isFailing = true;
  const made = new DescriptionFiles(queryOptionsOf(readSettings({}, {})), (order) => {
    return isFailing ? Promise.reject(new Error('no thread')) : Promise.resolve(textsOf(order));
  });
  await expect(made.file('/openapi.json', 'http://a', () => shapesWith())).rejects.toThrow('no thread');
  isFailing = false;
  await expect(made.file('/openapi.json', 'http://a', () => shapesWith())).resolves.toBeDefined();
});
