// Loaded into a process by --import: the system has no thread for the nth that the main thread starts, as NO_THREAD
// says, `thrown 2` or `told 2`. Node says either: by an exception, or later, as an error of the thread.
import { syncBuiltinESMExports } from 'node:module';
import threads, { isMainThread } from 'node:worker_threads';

const [how, nth] = process.env['NO_THREAD']!.split(' ');
const starved = (): Error => Object.assign(new Error('no thread'), { code: 'ERR_WORKER_INIT_FAILED' });
let started = 0;
class Scarce extends threads.Worker {
  constructor(...values: ConstructorParameters<typeof threads.Worker>) {
    const isLast = ++started === Number(nth);
    if (isLast && how === 'thrown') throw starved();
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
