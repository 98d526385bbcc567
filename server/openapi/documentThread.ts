// A thread that makes the document in both its forms and ends: that takes some 100 ms, which no serving thread has.
// Order in, bytes out.
import { parentPort, workerData } from 'node:worker_threads';
import { packageVersion } from '../settings/installation.ts';
import { openApiDocument } from './document.ts';
import { sampleExamples } from './examples.ts';
import type { DocumentOrder, DocumentTexts } from './files.ts';
import { yamlText } from './yaml.ts';

const { baseUrl, query, shapes } = workerData as DocumentOrder;
const examples = await sampleExamples(baseUrl);
const document = openApiDocument({ baseUrl, version: packageVersion(), query, shapes, examples });
const texts: DocumentTexts = { json: bytesOf(JSON.stringify(document)), yaml: bytesOf(yamlText(document)) };
parentPort?.postMessage(texts, [texts.json.buffer, texts.yaml.buffer]);

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}
