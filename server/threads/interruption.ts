// Reaching into a thread that does not turn any more: V8's debugger stops whatever JavaScript it runs, tells where, and
// has it close its App, so that the thread can be ended. What it cannot stop is a call into the system that does not
// return. Opens no port; read only where it is wanted.
import { Session } from 'node:inspector/promises';
import type { Worker } from 'node:worker_threads';

/** The messages of a session with one thread, inside those of a session with this one. */
interface FromThread {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly callFrames?: readonly CallFrame[] };
}

interface CallFrame {
  readonly callFrameId: string;
  readonly functionName: string;
  readonly url: string;
  readonly location: { readonly lineNumber: number; readonly columnNumber: number };
}

interface Attached {
  readonly sessionId: string;
  readonly workerInfo: { readonly title: string };
}

/** What is done in the thread: what it has for its own end, which closes the App. */
const CLOSE = `globalThis.process.emit('exit', 70)`;

/**
 * Has a thread run what it has for its end, in the midst of what it does; answers where that was, as lines of a stack,
 * or undefined where it could not be stopped within so many milliseconds. The thread may then be terminated.
 */
export async function interrupted(worker: Worker, withinMs: number): Promise<string | undefined> {
  const session = new Session();
  session.connect();
  const over = new Promise<undefined>((resolve) => setTimeout(resolve, withinMs, undefined).unref());
  try {
    return await Promise.race([over, closeIn(session, `[worker ${worker.threadId}]`)]);
  } finally {
    session.disconnect();
  }
}

async function closeIn(session: Session, title: string): Promise<string> {
  const attached = Promise.withResolvers<string>();
  session.on('NodeWorker.attachedToWorker', ({ params }: { params: Attached }) => {
    if (params.workerInfo.title.startsWith(title)) attached.resolve(params.sessionId);
  });
  const paused = Promise.withResolvers<readonly CallFrame[]>();
  const closed = Promise.withResolvers<void>();
  session.on('NodeWorker.receivedMessageFromWorker', ({ params }: { params: { message: string } }) => {
    const message = JSON.parse(params.message) as FromThread;
    if (message.method === 'Debugger.paused') paused.resolve(message.params?.callFrames ?? []);
    else if (message.id === CLOSING) closed.resolve();
  });
  await session.post('NodeWorker.enable', { waitForDebuggerOnStart: false });
  const sessionId = await attached.promise;
  const say = (id: number, method: string, params: object = {}): Promise<unknown> =>
    session.post('NodeWorker.sendMessageToWorker', { sessionId, message: JSON.stringify({ id, method, params }) });
  await say(1, 'Debugger.enable');
  await say(2, 'Debugger.pause');
  const frames = await paused.promise;
  await say(CLOSING, 'Debugger.evaluateOnCallFrame', {
    callFrameId: frames[0]!.callFrameId,
    expression: CLOSE,
  });
  await closed.promise;
  // A thread that stands still cannot be ended.
  await say(4, 'Debugger.disable');
  await session.post('NodeWorker.detach', { sessionId });
  return frames.map(stackLine).join('\n');
}

const CLOSING = 3;

function stackLine({ functionName, url, location }: CallFrame): string {
  return `    at ${functionName || '<anonymous>'} (${url}:${location.lineNumber + 1}:${location.columnNumber + 1})`;
}
