// A thread that makes the OpenAPI documents of a generation while that is loaded, and ends. The supervisor does without
// the 100 ms that this takes for each base URL, and without the code of the engine.
import { parentPort, workerData } from 'node:worker_threads';
import { openSnapshot } from '../../engine/engine.ts';
import type { LoadedSnapshot } from '../../engine/shared.ts';
import type { Settings } from '../settings/declarations.ts';
import { openApiDocuments } from './documents.ts';
import { queryOptionsOf } from './queryOptions.ts';

/** The data and the settings that the documents describe. */
export interface DocumentsOrder {
  readonly loaded: LoadedSnapshot;
  readonly settings: Settings;
}

const { loaded, settings } = workerData as DocumentsOrder;
const { collection } = openSnapshot(loaded);
const baseUrls = [loaded.baseUrl, ...settings.allowBaseUrls];
parentPort?.postMessage(await openApiDocuments(collection, queryOptionsOf(settings), baseUrls));
