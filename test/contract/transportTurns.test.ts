// One suite for both transports: a response that is read as fast as it is written leaves turns to other requests. The
// reader is a separate thread, because it must read while the server writes.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import type { Body } from '../../engine/engine.ts';
import { servers, textAnswer, TRANSPORTS } from '../support/transports.ts';

const PIECE = new Uint8Array(64 * 1024).fill(0x78);
const BODY_BYTES = 64 << 20;
/** Limit of the bytes sent in one turn: what a socket accepts at once (4 MB), and one piece. */
const TURN_BYTES_MAX = (4 << 20) + PIECE.length;

/** Reads the response to one request and posts its length. */
const READER = `
const { workerData, parentPort } = require('node:worker_threads');
const socket = require('node:net').connect(workerData, '127.0.0.1');
let bytes = 0;
socket.on('data', (data) => { bytes += data.length; });
socket.on('close', () => parentPort.postMessage(bytes));
socket.write('GET / HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n');
`;

describe.each(TRANSPORTS)('$name', (transport) => {
  const serve = servers(transport);

  test('writes at most 4 MB of an answer in one turn of the event loop, however fast it is read', async () => {
    let turn = 0;
    let isOver = false;
    const count = (): void => {
      turn++;
      if (!isOver) setImmediate(count);
    };
    const written = new Map<number, number>();
    const body: Body = {
      bytes: BODY_BYTES,
      pieceAt(offset) {
        // Takes longer to make than to read, so that the socket never fills.
        createHash('sha256').update(PIECE).digest();
        const piece = PIECE.subarray(0, Math.min(PIECE.length, BODY_BYTES - offset));
        written.set(turn, (written.get(turn) ?? 0) + piece.length);
        return piece;
      },
    };
    const { port } = await serve(() => ({ ...textAnswer(''), body, close: true }));
    count();
    const reader = new Worker(READER, { eval: true, workerData: port });
    const [bytes] = (await once(reader, 'message')) as [number];
    isOver = true;
    expect(bytes).toBeGreaterThan(BODY_BYTES);
    expect(Math.max(...written.values())).toBeLessThanOrEqual(TURN_BYTES_MAX);
  });
});
