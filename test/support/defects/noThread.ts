// Loaded by --import. The system refuses the nth thread that the main thread starts (NO_THREAD is `thrown n` or
// `emitted n`). Node reports this by an exception, or later by an error event of the thread.
import { syncBuiltinESMExports } from 'node:module';
import threads, { isMainThread } from 'node:worker_threads';

const [report, nth] = process.env['NO_THREAD']!.split(' ');
const starved = (): Error => Object.assign(new Error('no thread'), { code: 'ERR_WORKER_INIT_FAILED' });
let started = 0;
class Scarce extends threads.Worker {
  constructor(...values: ConstructorParameters<typeof threads.Worker>) {
    const isLast = ++started === Number(nth);
    if (isLast && report === 'thrown') throw starved();
    super(...values);
    if (!isLast) return;
    process.nextTick(() => this.emit('error', starved()));
    void this.terminate();
  }
}
if (isMainThread) {
  Object.assign(threads, { Worker: Scarce });
  syncBuiltinESMExports();
}
