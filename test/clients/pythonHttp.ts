// The common test of Python's HTTP libraries: each script prints one JSON object of these members.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runServer, type Server } from '../support/commandProcess.ts';
import { hasLibrary, type Library } from '../support/debian.ts';
import { sampleSnapshot } from '../support/sampleSnapshot.ts';
import { python } from './python.ts';

/** Runs a script that gets the address of the list as its argument. */
export function describePython(name: string, library: Library, script: string): void {
  describe.skipIf(!hasLibrary(library))(name, () => {
    let server: Server;
    beforeAll(async () => (server = await runServer(['--data', await sampleSnapshot(), '--threads', '1'])));
    afterAll(() => server.stop());

    test('lists, reads errors and 304, sends times as Python prints them, and reads a range', async () => {
      const list = `${server.url}/api/v3/observations/`;
      const whole = Buffer.from(await (await fetch(`${list}?format=csv`)).arrayBuffer());
      expect(await python(script, list)).toEqual({
        count: 500,
        error: ['Enter a whole number.'],
        unchanged: 304,
        since: 200,
        part: [206, whole.subarray(1000, 2000).toString('latin1')],
      });
    });
  });
}
