// Refusals of the serve command to start: in lines without a stack, and with exit code 1.
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { claimPort } from '../../../../server/http/ports.ts';
import { openFilesOf, endedCommands } from '../../../support/commandProcess.ts';
import { dataSetOf, imported, temporaryDirectory } from '../../../support/dataSets.ts';
import { longProperties } from '../../../support/longProperties.ts';

const directory = temporaryDirectory();
let snapshot: string;
beforeAll(async () => {
  ({ file: snapshot } = await imported(dataSetOf(directory, { 'migrationproperties.ndjson': longProperties(100) })));
});

const { startServe, startServer } = endedCommands();

describe('serve in lines without a stack and with exit code 1', () => {
  async function refused(words: readonly string[], message: RegExp): Promise<void> {
    const command = startServe(words);
    expect(await command.ended).toEqual({ code: 1, signal: null });
    expect(command.err()).toMatch(message);
    expect(command.err()).not.toMatch(/^ +at /m);
    expect(command.out()).not.toContain('listening');
  }

  test('refuses a port that another program uses', async () => {
    const other = await new Promise<Server>((resolve) => {
      const server = createServer().listen(0, '127.0.0.1', () => resolve(server));
    });
    const { port } = other.address() as AddressInfo;
    const isTold = process.platform === 'linux';
    const holder = isTold ? ` by .+ \\(process ${process.pid}\\): stop that` : ': stop the program that has it';
    await refused(
      ['--data', snapshot, '--port', `${port}`],
      new RegExp(
        `^catalogue-replica: port ${port} on 127.0.0.1 is in use${holder}, or choose another with --port .*\n$`,
      ),
    );
    other.close();
  });

  test('refuses a port of another server, on any listener, with the flag of that listener', async () => {
    const { port, http10Port } = await startServer('--data', snapshot);
    await refused(
      ['--data', snapshot, '--port', `${port}`],
      /^catalogue-replica: port \d+ on 127\.0\.0\.1 is in use.*\n$/,
    );
    await refused(
      ['--data', snapshot, '--port', '0', '--http10-port', `${http10Port}`],
      /^catalogue-replica: port \d+ on .* is in use.* choose another with --http10-port .*\n$/,
    );
    await refused(
      ['--data', snapshot, '--port', '0', '--admin-port', `${port}`],
      /^catalogue-replica: port \d+ on .* is in use.* choose another with --admin-port .*\n$/,
    );
  });

  test('refuses a port that another server has claimed, however long that loads', async () => {
    const { port, release } = await claimPort('127.0.0.1', 0);
    await refused(['--data', snapshot, '--port', `${port}`], /^catalogue-replica: port \d+ .* is in use.*\n$/);
    await release();
  });

  test('refuses an address that is not one of this machine', async () => {
    await refused(
      ['--data', snapshot, '--port', '0', '--host', '192.0.2.1'],
      /^catalogue-replica: port 0 on 192\.0\.2\.1 cannot be taken: .*--host\n$/,
    );
  });

  test('refuses missing data', async () => {
    await refused(
      ['--data', join(directory, 'absent'), '--port', '0'],
      /^catalogue-replica: there is no data at .*absent: .*\n$/,
    );
  });

  test('refuses data that it cannot look for', async () => {
    const data = join(directory, 'loop');
    symlinkSync(data, data);
    await refused(['--data', data, '--port', '0'], /^catalogue-replica: cannot read .*loop: ELOOP: .*\n$/);
  });

  test('refuses a directory of records if it cannot write a temporary file', async () => {
    const data = dataSetOf(directory, { 'migrationproperties.ndjson': '' });
    const command = startServe(['--data', data, '--port', '0'], { environment: { TMPDIR: join(directory, 'absent') } });
    expect(await command.ended).toEqual({ code: 1, signal: null });
    expect(command.err()).toMatch(/^catalogue-replica: cannot write .*absent.*: set TMPDIR .*\n$/);
  });

  test('refuses a snapshot with one wrong byte, or cut short', async () => {
    const bytes = readFileSync(snapshot);
    const wrong = join(directory, 'wrong.snapshot');
    bytes[bytes.length >> 1]! ^= 1;
    writeFileSync(wrong, bytes);
    await refused(
      ['--data', wrong, '--port', '0'],
      /^catalogue-replica: .*wrong\.snapshot: section .*: checksum .*, expected .*\n$/,
    );
    writeFileSync(wrong, bytes.subarray(0, bytes.length >> 1));
    await refused(['--data', wrong, '--port', '0'], /^catalogue-replica: .*wrong\.snapshot: .*\n$/);
  });

  test('refuses faulty records, with file, line and JSON pointer', async () => {
    const faulty = dataSetOf(directory, {
      'ipps.ndjson': '{"ob_id":1}\n{"ob_id":"x"}\n',
      'times.ndjson': '{"ob_id":1',
    });
    await refused(['--data', faulty, '--port', '0'], /^catalogue-replica: .*ipps\.ndjson:2: \/ob_id: .*\n/);
    const lenient = await startServer('--data', faulty, '--lenient');
    expect(lenient.out()).toMatch(/^left out: .*ipps\.ndjson:2: .*\n(?:.*\n)*left out: 2 in all\nloaded 1 records /);
    // The server has closed the imported snapshot, because no request needs it again.
    expect(openFilesOf(lenient.pid, 'imported.snapshot')).toEqual([]);
  });

  test('refuses anything with an event, and nothing else, if the log is for machines', async () => {
    const command = startServe(['--data', join(directory, 'absent'), '--port', '0', '--log-format', 'json']);
    expect(await command.ended).toEqual({ code: 1, signal: null });
    const last = JSON.parse(command.out().trimEnd().split('\n').at(-1)!) as unknown;
    const reason = expect.stringMatching(/^there is no data at /) as unknown;
    expect(last).toMatchObject({ level: 'error', event: 'refused', reason });
    expect(command.err()).toBe('');
  });
});
