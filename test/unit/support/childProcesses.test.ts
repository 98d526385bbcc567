import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { until, withinLimit } from '../../support/waits.ts';

const MODULE = new URL('../../support/childProcesses.ts', import.meta.url).href;
const SCRIPT = `import { spawn } from 'node:child_process';
  (await import(${JSON.stringify(MODULE)})).killChildrenOnSigterm();
  console.log(spawn('sleep', ['600']).pid);`;

test.skipIf(process.platform !== 'linux')('kills the child processes of a worker on SIGTERM', async () => {
  const worker = spawn(process.execPath, ['--input-type=module', '--eval', SCRIPT]);
  const [printed] = (await withinLimit(once(worker.stdout, 'data'), () => 'no process id')) as [Buffer];
  worker.kill('SIGTERM');
  expect(await withinLimit(once(worker, 'exit'), () => 'still there')).toEqual([143, null]);
  // Its new parent may not have reaped it yet.
  await until(() => !existsSync(`/proc/${printed.toString().trim()}/fd/0`));
});
