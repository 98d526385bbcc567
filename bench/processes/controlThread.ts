// The serving thread of the control: bare uWebSockets.js without any code of the product. Its cost is the minimum of
// any program on this library for a response of that many bytes.
import assert from 'node:assert/strict';
import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { loadUws, type HttpRequest, type HttpResponse } from '../../server/http/uws/library.ts';
import { markupEscaped } from '../client/markup.ts';
import { naiveCountOf } from './memoryScan.ts';

const parent = parentPort;
assert(parent, 'controlThread.ts runs as a thread of control.ts');

const BARE = Buffer.alloc(300, 'x');
const PAGE_BYTES = 65_536;
/**
 * WebAssembly memory, as in the product. It is written, because the system maps untouched memory to one page of zeros.
 */
const pages = Math.ceil((workerData as number) / PAGE_BYTES);
const memory = new Uint8Array(new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true }).buffer).fill(
  120,
);

const SIGNATURE_BYTES = 256;

let floorAt = 0;
let text: Uint8Array = new Uint8Array(0);
let titles: readonly string[] = [];
let titleAt = 0;
/** Made when the first signature is requested. */
let key: KeyObject | undefined;

function newKey(): KeyObject {
  return generateKeyPairSync('rsa', { modulusLength: 8 * SIGNATURE_BYTES }).privateKey;
}

function nextFloor(bytes: number): Uint8Array {
  if (floorAt + bytes > memory.length) floorAt = 0;
  const view = memory.subarray(floorAt, floorAt + bytes);
  floorAt += bytes;
  return view;
}

function sendView(response: HttpResponse, view: Uint8Array): void {
  const [, isDone] = response.tryEnd(view, view.length);
  if (isDone) return;
  let isGone = false;
  response.onAborted(() => (isGone = true));
  response.onWritable((offset) => isGone || response.tryEnd(view.subarray(offset), view.length)[1]);
}

/** The view that parameters 0 (bytes) and 1 (position) name. */
function viewAt(request: HttpRequest): Uint8Array {
  const at = Number(request.getParameter(1));
  return memory.subarray(at, at + Number(request.getParameter(0)));
}

function takeText(response: HttpResponse): void {
  const pieces: Buffer[] = [];
  response.onAborted(() => undefined);
  response.onData((piece, isLast) => {
    pieces.push(Buffer.from(Buffer.from(piece)));
    if (!isLast) return;
    const whole = Buffer.concat(pieces);
    text = new Uint8Array(new SharedArrayBuffer(whole.length));
    text.set(whole);
    titles = whole.toString().split('\n');
    response.end(BARE);
  });
}

const COLUMNS = 6;

/** A table of this many bytes, written from the next titles as any template writes it. */
function markupOf(bytes: number): Uint8Array {
  let html = '';
  while (html.length < bytes) {
    html += '<tr>';
    for (let i = 0; i < COLUMNS; i++) html += `<td>${markupEscaped(titles[titleAt++ % titles.length]!)}</td>`;
    html += '</tr>';
  }
  return Buffer.from(html).subarray(0, bytes);
}

/*
 * GET /bare: 300 bytes of the thread's memory. GET /page/N/AT: a view of N bytes of shared memory at AT, as much in the
 * cache as its neighbours. GET /floor/N: another view of N bytes of shared memory each time, not in the cache. POST
 * /text: accepts the text to scan, the titles in lines. GET /scan/WORD: 300 bytes after one scan of the text for the
 * word. GET /markup/N: N bytes of HTML written from titles, others each time. GET /sign: 300 bytes after one RSA-2048
 * signature with SHA-256 over as many bytes.
 */
const uws = await loadUws();
const app = uws.App();
app.get('/bare', (response) => void response.end(BARE));
app.get('/page/:bytes/:at', (response, request) => sendView(response, viewAt(request)));
app.get('/floor/:bytes', (response, request) => sendView(response, nextFloor(Number(request.getParameter(0)))));
app.post('/text', takeText);
app.get('/scan/:word', (response, request) => {
  const hits = naiveCountOf(text, Buffer.from(decodeURIComponent(request.getParameter(0) ?? '')));
  response.end(String(hits).padEnd(BARE.length));
});
app.get('/markup/:bytes', (response, request) => sendView(response, markupOf(Number(request.getParameter(0)))));
app.get('/sign', (response) => {
  assert.equal(sign('sha256', BARE, (key ??= newKey())).length, SIGNATURE_BYTES);
  response.end(BARE);
});
app.listen('127.0.0.1', 0, (socket) => parent.postMessage(uws.us_socket_local_port(socket)));
parent.once('message', () => app.close());
