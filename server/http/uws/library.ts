// The only file that imports uWebSockets.js, and that sets the environment variable which it reads. Loaded in each
// serving thread; the supervisor only raises the limit.
import assert from 'node:assert/strict';
import { isMainThread } from 'node:worker_threads';
import { isStarved } from '../../../workers/starvation.ts';
import { REQUEST_HEAD_BYTES_MAX } from '../framing.ts';

// The library reads UWS_HTTP_MAX_HEADERS_SIZE with getenv() once per process, while its binary is loaded (measured):
//
//   set by                                               request head limit in a worker thread
//   process.env on the main thread, before any import    raised
//   process.env inside the worker, or its `env` option   4,096 bytes: both are copies that getenv() does not see
//   process.env on the main thread, after an import      4,096 bytes, in every thread

export type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js';

const VARIABLE = 'UWS_HTTP_MAX_HEADERS_SIZE';

/**
 * Raises the limit of 4,096 bytes. Call it on the main thread before starting any serving thread. An operator's value
 * is kept.
 */
export function raiseHeadLimit(): void {
  assert(isMainThread, 'only the main thread can change the environment that the library reads');
  process.env[VARIABLE] ??= String(REQUEST_HEAD_BYTES_MAX);
}

/** Throws in a thread whose parent has not called raiseHeadLimit, and if no binary can be loaded. */
export async function loadUws(): Promise<typeof import('uWebSockets.js')> {
  if (isMainThread) raiseHeadLimit();
  assert(process.env[VARIABLE] !== undefined, 'call raiseHeadLimit() on the main thread before starting this one');
  return import('uWebSockets.js');
}

/** Why the library cannot be loaded here, in one line with the system's message; undefined if it can. */
export async function uwsLoadError(): Promise<string | undefined> {
  try {
    await loadUws();
    return undefined;
  } catch (error) {
    // A temporary shortage: the thread is started again.
    if (isStarved(error)) throw error;
    // The library lists what it supports, and below that the system's message.
    const lines = String(error).split('\n');
    return lines.findLast((line) => /^(?:\w*Error): /.test(line)) ?? lines[0];
  }
}
