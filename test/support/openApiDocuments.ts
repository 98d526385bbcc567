import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'vitest';
import type { RecordShape } from '../../engine/query/served.ts';
import { queryOptionsOf } from '../../server/catalogue/queryOptions.ts';
import { openApiDocument, type Spellings } from '../../server/pages/openapi/document.ts';
import type { sampleExamples } from '../../server/pages/openapi/schemas.ts';
import { readSettings } from '../../server/settings/declarations.ts';

/** The base URL of the documents. */
export const BASE_URL = 'https://catalogue.test/some';

/** Both validators take some seconds for a document of this size, and more on a busy machine. */
export const VALIDATION_MS_MAX = 120_000;

interface Schema {
  readonly properties: Readonly<Record<string, object>>;
  readonly examples?: readonly object[];
}

export interface OpenApiDocument {
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, { readonly $ref?: string; readonly get?: { readonly operationId: string } }>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters: Readonly<Record<string, { readonly name: string }>>;
  };
}

/** The document of a server with these flags and record shapes: the complete one unless `spellings` is set. */
export function madeDocument(
  flags: Record<string, string | boolean>,
  shapes: readonly RecordShape[],
  examples: Awaited<ReturnType<typeof sampleExamples>>,
  spellings: Spellings = 'all',
): OpenApiDocument {
  const query = queryOptionsOf(readSettings(flags, {}));
  const options = { baseUrl: BASE_URL, version: '1.2.3', query, shapes, examples, spellings };
  return JSON.parse(JSON.stringify(openApiDocument(options))) as OpenApiDocument;
}

/** Expects no error or warning from two independent validators. */
export async function validatorsFindNothing(document: OpenApiDocument): Promise<void> {
  // The only rule that is off is a matter of taste: spec 4.1 requires the slashes.
  const config = await createConfig({ extends: ['recommended'], rules: { 'no-path-trailing-slash': 'off' } });
  const source = JSON.stringify(document);
  expect(await lintFromString({ source, absoluteRef: '/openapi.json', config })).toEqual([]);
  expect(await new Validator().validate({ ...document })).toEqual({ valid: true });
}
