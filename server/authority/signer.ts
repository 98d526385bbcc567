// A signing thread: decides about requests to be authorised, signs, and reads long messages, one after the other until
// it is told to end. Never opens a socket, and no file but that of the audit: its configuration comes with its start,
// and another one as a message.
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { beNice } from '../../workers/niceness.ts';
import { epochSeconds } from '../observe/clock.ts';
import type { MessageReader } from './authority.ts';
import type { FromSigner, SignerStart, ToSigner } from './signingThread.ts';

/**
 * So many answers go together where other requests are there already: to wake the serving thread costs both threads
 * more than all else that is done to hand an answer over. So an answer waits for two requests more at most, as each of
 * those waited for it.
 */
const TOGETHER_MAX = 3;

// Before it reads the program: a server that starts has better to do.
beNice();
const { data, auditLog, messageReader, posted } = workerData as SignerStart;
const { authoriserOf } = await import('./authorise.ts');
const { COUNTS_EVERY_MS, recordedBy, Recorder } = await import('./recorded.ts');
const { appendLines, logTo } = await import('../observe/log.ts');
const reader = messageReader === undefined ? undefined : ((await import(messageReader)) as MessageReader);
let authorise = authoriserOf(data);
const recorder = auditLog && new Recorder(logTo((lines) => appendLines(auditLog.file, lines, auditLog.pipe)));

/** What is answered one for one. */
type Asked = Extract<ToSigner, { readonly kind: 'request' | 'message' }>;

/** Answers one now. What it throws is our bug. */
function answerTo(asked: Asked): FromSigner {
  try {
    if (asked.kind === 'request') return { answer: recordedBy(recorder, authorise(asked.request, epochSeconds())) };
    return { answer: reader?.readMessage(asked.body, asked.charset) };
  } catch (error) {
    return { bug: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

/** What lies there unread, if anything. */
function waiting(): ToSigner | undefined {
  return receiveMessageOnPort(parentPort!)?.message as ToSigner | undefined;
}

/** What comes next. Sleeps without turning the event loop, which takes an event and two system calls more. */
function next(): ToSigner {
  for (;;) {
    // Before the look: what is posted behind it changes the number, and nobody sleeps.
    const seen = Atomics.load(posted, 0);
    const message = waiting();
    if (message !== undefined) return message;
    if (Atomics.wait(posted, 0, seen, COUNTS_EVERY_MS) === 'timed-out') recorder?.writeCounts();
  }
}

let answers: FromSigner[] = [];
for (let message = next(); message.kind !== 'end';) {
  if (message.kind === 'data') {
    authorise = authoriserOf(message.data);
    recorder?.writeCounts();
  } else answers.push(answerTo(message));
  const following = answers.length < TOGETHER_MAX ? waiting() : undefined;
  if (following?.kind !== 'request' && answers.length > 0) {
    parentPort!.postMessage(answers);
    answers = [];
  }
  message = following ?? next();
}
recorder?.writeCounts();
