// A signing thread: decides about requests to be authorised, and signs, one after the other until it is told to end.
// Never opens a socket or a file: its configuration comes with its start and never changes.
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { beNice } from '../../workers/niceness.ts';
import { epochSeconds } from '../observe/clock.ts';
import { authoriserOf } from './authorise.ts';
import { END, type FromSigner, type SignerStart, type ToSigner } from './signingThread.ts';

/**
 * So many answers go together where other requests are there already: to wake the serving thread costs both threads
 * more than all else that is done to hand an answer over. So an answer waits for two requests more at most, as each of
 * those waited for it.
 */
const TOGETHER_MAX = 3;

/**
 * So long a signing thread sleeps behind each proof, with what the system adds. Linux lets a thread that is awake
 * finish its slice, however nice it is, so that a serving thread that wakes meanwhile would wait for proof and
 * signature, and waits for one of them: without the sleep p99 of the catalogue is 1.25 to 1.6 times as high.
 */
const GIVE_WAY_MS = 0.05;

const { data, posted } = workerData as SignerStart;
const nothing = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
const authorise = authoriserOf(data, () => void Atomics.wait(nothing, 0, 0, GIVE_WAY_MS));
beNice();

/** Answers one request now. What it throws is our bug. */
function answerTo(request: Exclude<ToSigner, typeof END>): FromSigner {
  try {
    return authorise(request, epochSeconds());
  } catch (error) {
    return { bug: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

/** What lies there unread, if anything. */
function waiting(): ToSigner | undefined {
  return receiveMessageOnPort(parentPort!)?.message as ToSigner | undefined;
}

/**
 * The next request, or the end. Sleeps without turning the event loop, which takes an event and two system calls more.
 */
function next(): ToSigner {
  for (;;) {
    // Before the look: what is posted behind it changes the number, and nobody sleeps.
    const seen = Atomics.load(posted, 0);
    const message = waiting();
    if (message !== undefined) return message;
    Atomics.wait(posted, 0, seen);
  }
}

let answers: FromSigner[] = [];
let request = next();
while (request !== END) {
  answers.push(answerTo(request));
  const following = answers.length < TOGETHER_MAX ? waiting() : undefined;
  if (following === undefined || following === END) {
    parentPort!.postMessage(answers);
    answers = [];
  }
  request = following ?? next();
}
