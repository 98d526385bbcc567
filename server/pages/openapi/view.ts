// A path of the OpenAPI document with its three methods, from what its GET answers.
// Pure; knows no path.
import { type DocumentObject, refsTo, refTo } from './references.ts';

/** What the operations of a path have in common. */
export interface DocumentedView {
  readonly id: string;
  readonly summary: string;
  readonly tag: string;
  readonly parameters: readonly DocumentObject[];
}

/** A path with its three methods; HEAD and OPTIONS say no more than GET. */
export function viewItem(
  { id, summary, tag, parameters }: DocumentedView,
  get: DocumentObject,
  failed: DocumentObject,
): DocumentObject {
  const tags = [tag];
  const { 304: notModified, ...others } = failed;
  return {
    ...(parameters.length === 0 ? {} : { parameters }),
    get: { operationId: id, summary, tags, responses: { 200: get, 304: notModified, ...others } },
    head: {
      operationId: `${id}Head`,
      summary: `${summary}: the headers`,
      tags,
      responses: { 200: refTo('responses', 'Head'), 304: notModified, ...others },
    },
    options: {
      operationId: `${id}Options`,
      summary: `${summary}: the methods`,
      tags,
      responses: { 200: refTo('responses', 'View'), ...refsTo('responses', { 404: 'NotFound' }) },
    },
  };
}
