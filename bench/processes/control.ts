// The control as a process: a main thread that waits and one serving thread, as in the product.
import { Worker } from 'node:worker_threads';
import { raiseHeadLimit } from '../../server/http/uws/library.ts';

raiseHeadLimit();
const thread = new Worker(new URL('./controlThread.ts', import.meta.url), { workerData: Number(process.argv[2]) });
thread.once('message', (port: number) => process.stdout.write(`listening on http://127.0.0.1:${port}\n`));
process.once('SIGTERM', () => thread.postMessage('stop'));
