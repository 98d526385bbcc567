// The lookups outside the collections, as paths of the OpenAPI documents. A test compares these paths with the routes
// in server/catalogue/routes.ts.
import type { QueryOptions } from '../../../engine/engine.ts';
import { type DocumentedView, failures, foundResponse, jsonContent, parametersOf } from './responses.ts';
import type { DocumentObject } from './schemas.ts';

interface Resolution {
  readonly path: string;
  readonly id: string;
  readonly summary: string;
  readonly parameter?: DocumentObject;
  readonly content: DocumentObject;
}

const TEXT: DocumentObject = { type: 'string' };

function texts(...names: readonly string[]): DocumentObject {
  return { type: 'object', required: names, properties: Object.fromEntries(names.map((name) => [name, TEXT])) };
}

function inPath(name: string, description: string, example: string): DocumentObject {
  return { name, in: 'path', required: true, description, schema: TEXT, example };
}

const RESOLUTIONS: readonly Resolution[] = [
  {
    path: '/api/v0/obs/get_info/{path}',
    id: 'findPath',
    summary: 'The record whose data holds a path; empty texts for none',
    parameter: inPath('path', 'A path of data, its slashes as they are or encoded.', 'archive/project/data/file.nc'),
    content: jsonContent(texts('url', 'record_type', 'record_path', 'title')),
  },
  {
    path: '/api/v0/obs/all',
    id: 'listPaths',
    summary: 'Every path of data with its record',
    content: jsonContent({ type: 'object', additionalProperties: texts('url', 'record_type', 'title') }),
  },
  {
    path: '/api/v0/complete',
    id: 'listCompleteness',
    summary: 'Top-level folders, then every path with whether its data is complete',
    content: { 'text/plain': { schema: { type: 'string', description: 'A path and True or False a line.' } } },
  },
  {
    path: '/api/v0/drs_lookup/{id}',
    id: 'findDataset',
    summary: 'The directory of a dataset by its id, with a version or without; UNKNOWN for none',
    parameter: inPath('id', 'The id of a dataset.', 'project.output.model.v20240131'),
    content: jsonContent(texts('directory', 'identifier', 'version')),
  },
  {
    path: '/api/v0/drs_listing/{prefix}',
    id: 'listDatasets',
    summary: 'The directories of all datasets whose ids start with a prefix',
    parameter: inPath('prefix', 'The start of an id.', 'project.output'),
    content: jsonContent({ type: 'object', additionalProperties: TEXT }),
  },
  {
    path: '/api/legacy_lookup/',
    id: 'findIdentifier',
    summary: 'The record that has an identifier with an address; UNKNOWN for none',
    parameter: {
      name: 'identifier',
      in: 'query',
      description: 'The address of the identifier.',
      schema: TEXT,
      example: 'https://doi.example.org/10.5072/1',
    },
    content: jsonContent(texts('url', 'identifier', 'identifierType')),
  },
];

/** The views by path. A trailing slash is optional everywhere. */
export function resolutionViews(options: QueryOptions): readonly (readonly [path: string, view: DocumentedView])[] {
  const heeded = parametersOf('lookup', options);
  return RESOLUTIONS.map(({ path, id, summary, parameter, content }) => {
    const parameters = [...(parameter ? [parameter] : []), ...heeded];
    const found = foundResponse('What was found.', content);
    return [path, { id, summary, tag: 'Look-ups', parameters, found, failed: failures('oneForm', false) }] as const;
  });
}
