// The OpenAPI documents of a generation: one for each base URL that a request may choose, in both forms, plain and
// compressed, in memory that all threads share. Made before the generation is served, so that no request waits for one.
import type { CollectionIndex, QueryOptions } from '../../../engine/engine.ts';
import { packageVersion } from '../../settings/installation.ts';
import { openApiDocument } from './document.ts';
import { sampleExamples } from './examples.ts';
import type { DocumentPath } from '../../catalogue/routes.ts';
import { type DescriptionFile, fileOf } from './files.ts';
import { shapesOf } from './shapes.ts';
import { yamlText } from './yaml.ts';

/** The documents by base URL. */
export type Documents = ReadonlyMap<string, Readonly<Record<DocumentPath, DescriptionFile>>>;

/**
 * The documents of a catalogue with these collections. Cost: some 100 ms for each base URL, of which half holds the
 * thread; in proportion to the document (see `openApiDocument`).
 */
export async function openApiDocuments(
  collections: (name: string) => CollectionIndex,
  query: QueryOptions,
  baseUrls: readonly string[],
): Promise<Documents> {
  const shapes = shapesOf(collections);
  const documents = new Map<string, Readonly<Record<DocumentPath, DescriptionFile>>>();
  for (const baseUrl of new Set(baseUrls)) {
    const examples = await sampleExamples(baseUrl);
    const document = openApiDocument({ baseUrl, version: packageVersion(), query, shapes, examples });
    documents.set(baseUrl, {
      '/openapi.json': await sharedFile('/openapi.json', JSON.stringify(document)),
      '/openapi.yaml': await sharedFile('/openapi.yaml', yamlText(document)),
    });
  }
  return documents;
}

async function sharedFile(path: DocumentPath, text: string): Promise<DescriptionFile> {
  const file = await fileOf(path, new TextEncoder().encode(text));
  return { ...file, bytes: shared(file.bytes), gzipped: shared(file.gzipped) };
}

function shared(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}
