// A small S3 server in memory. It supports conditions or not, lists in short pages, and misbehaves if a test wants it
// to. It does not check signatures: contract/targets.long.test.ts does that with Swift.
import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { S3Access } from '../../data/distribution/target.ts';

/** Keys that no message may repeat. */
export const S3_KEYS = { id: 'AKIDHUNTER2', secret: 'hunter2secret', token: '' };
/** Short, so that a list of a few has several pages. */
const PAGE = 2;
const MODIFIED = '2026-01-31T12:00:00.000Z';

/** Returns true if it has sent a response itself. It may wait, and is called before the body is read. */
export type S3Misbehaviour = (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>;

/** A server with one bucket, `bucket`. `asked` has method and path of all requests so far. */
export interface S3Server {
  readonly origin: string;
  readonly access: S3Access;
  readonly objects: Map<string, Buffer>;
  readonly uploads: Map<string, { readonly key: string; readonly parts: Map<number, Buffer> }>;
  readonly asked: string[];
  readonly connections: () => number;
  isMinding: boolean;
  misbehave: S3Misbehaviour;
  close(): void;
}

export async function s3Server(): Promise<S3Server> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    void (async () => {
      if (await self.misbehave(request, response)) return;
      await answer(self, request, response);
    })().catch(() => response.destroy());
  });
  let connections = 0;
  server.on('connection', () => connections++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const self: S3Server = {
    origin,
    access: { endpoint: origin, region: 'us-east-1', keys: S3_KEYS },
    objects: new Map(),
    uploads: new Map(),
    asked,
    connections: () => connections,
    isMinding: true,
    misbehave: () => false,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return self;
}

const tagOf = (bytes: Buffer): string => `"${createHash('md5').update(bytes).digest('hex')}"`;

/** Sends a response of XML, as S3 servers write it. */
export function sendXml(response: ServerResponse, status: number, xml: string): void {
  response.writeHead(status, { 'content-type': 'application/xml' }).end(`<?xml version="1.0"?>\n${xml}`);
}

const refuse = (response: ServerResponse, status: number, code: string): void =>
  sendXml(response, status, `<Error><Code>${code}</Code><Message>${S3_KEYS.id}</Message></Error>`);

async function answer(self: S3Server, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url!, self.origin);
  const [, bucket, ...names] = url.pathname.split('/');
  const key = names.join('/');
  const body = await buffer(request);
  const sum = request.headers['x-amz-content-sha256'];
  if (bucket !== 'bucket') return refuse(response, 404, 'NoSuchBucket');
  if (sum !== createHash('sha256').update(body).digest('hex'))
    return refuse(response, 400, 'XAmzContentSHA256Mismatch');
  if (url.searchParams.has('uploads') || url.searchParams.has('uploadId'))
    return answerUpload(self, request.method!, key, url.searchParams, body, response);
  if (key === '') return list(self, url.searchParams, response);
  const found = self.objects.get(key);
  const { 'if-match': match, 'if-none-match': noneMatch } = request.headers;
  switch (request.method) {
    case 'PUT':
      if (self.isMinding && match !== undefined && !found) return refuse(response, 404, 'NoSuchKey');
      if (self.isMinding && ((match !== undefined && match !== tagOf(found!)) || (noneMatch === '*' && found)))
        return refuse(response, 412, 'PreconditionFailed');
      self.objects.set(key, body);
      return void response.writeHead(200, { etag: tagOf(body) }).end();
    case 'DELETE':
      self.objects.delete(key);
      return void response.writeHead(204).end();
    default:
      if (!found) return refuse(response, 404, 'NoSuchKey');
      return get(found, request, response);
  }
}

function get(found: Buffer, { method, headers }: IncomingMessage, response: ServerResponse): void {
  const etag = tagOf(found);
  if (headers['if-none-match'] === etag) return void response.writeHead(304, { etag }).end();
  const start = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0);
  const length = { 'content-length': found.length - start };
  if (method === 'HEAD') return void response.writeHead(200, { etag, ...length }).end();
  if (start === 0) return void response.writeHead(200, { etag, ...length }).end(found);
  const range = `bytes ${start}-${found.length - 1}/${found.length}`;
  response.writeHead(206, { etag, ...length, 'content-range': range }).end(found.subarray(start));
}

function answerUpload(
  self: S3Server,
  method: string,
  key: string,
  query: URLSearchParams,
  body: Buffer,
  response: ServerResponse,
): void {
  const id = query.get('uploadId');
  if (id === null) {
    if (method === 'GET') return listUploads(self, query, response);
    const begun = randomUUID();
    self.uploads.set(begun, { key, parts: new Map() });
    return sendXml(
      response,
      200,
      `<InitiateMultipartUploadResult><UploadId>${begun}</UploadId></InitiateMultipartUploadResult>`,
    );
  }
  const upload = self.uploads.get(id);
  if (!upload) return refuse(response, 404, 'NoSuchUpload');
  if (method === 'PUT') {
    upload.parts.set(Number(query.get('partNumber')), body);
    return void response.writeHead(200, { etag: tagOf(body) }).end();
  }
  self.uploads.delete(id);
  if (method === 'DELETE') return void response.writeHead(204).end();
  const wanted = [...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>("\w+")<\/ETag>/g)];
  const parts = wanted.map(([, number, tag]) => {
    const part = upload.parts.get(Number(number));
    return part && tagOf(part) === tag ? part : undefined;
  });
  if (parts.includes(undefined)) return refuse(response, 200, 'InvalidPart');
  self.objects.set(key, Buffer.concat(parts as Buffer[]));
  sendXml(response, 200, '<CompleteMultipartUploadResult><ETag>"a"</ETag></CompleteMultipartUploadResult>');
}

function list({ objects }: S3Server, query: URLSearchParams, response: ServerResponse): void {
  const keys = [...objects.keys()].filter((key) => key.startsWith(query.get('prefix') ?? '')).toSorted();
  const from = Number(query.get('continuation-token') ?? 0);
  const contents = keys.slice(from, from + PAGE).map((key) => {
    const size = objects.get(key)!.length;
    return `<Contents><Key>${key}</Key><LastModified>${MODIFIED}</LastModified><Size>${size}</Size></Contents>`;
  });
  const isTruncated = from + PAGE < keys.length;
  const next = isTruncated ? `<NextContinuationToken>${from + PAGE}</NextContinuationToken>` : '';
  const head = `<IsTruncated>${isTruncated}</IsTruncated>${next}`;
  sendXml(response, 200, `<ListBucketResult>${head}${contents.join('')}</ListBucketResult>`);
}

function listUploads({ uploads }: S3Server, query: URLSearchParams, response: ServerResponse): void {
  const ids = [...uploads.keys()].toSorted();
  const from = ids.findLastIndex((id) => id === query.get('upload-id-marker')) + 1;
  const page = ids.slice(from, from + PAGE);
  const entries = page.map((id) => {
    const owner = '<Owner><ID>me</ID></Owner>';
    return `<Upload><Key>${uploads.get(id)!.key}</Key><UploadId>${id}</UploadId>${owner}<Initiated>${MODIFIED}</Initiated></Upload>`;
  });
  const last = page.at(-1);
  const isTruncated = from + PAGE < ids.length;
  const markers = `<NextKeyMarker>x</NextKeyMarker><NextUploadIdMarker>${last}</NextUploadIdMarker>`;
  const head = `<IsTruncated>${isTruncated}</IsTruncated>${isTruncated ? markers : ''}`;
  sendXml(response, 200, `<ListMultipartUploadsResult>${head}${entries.join('')}</ListMultipartUploadsResult>`);
}
