// Starts at once on one port, which SO_REUSEPORT would let all of them share.
import { expect, test } from 'vitest';
import { steadyPort } from '../../../../bench/proxy/shippedProxies.ts';
import { sampleSnapshot } from '../../../support/sampleSnapshot.ts';
import { startServer } from '../../../support/server.ts';

const ROUNDS = 3;
const STARTS = 5;

test.skipIf(process.platform !== 'linux').each(['--port', '--http10-port'])(
  'of servers that start at once with one %s one serves, and the others say who has it',
  async (flag) => {
    const data = await sampleSnapshot();
    for (let round = 0; round < ROUNDS; round++) {
      const port = await steadyPort();
      const start = () => startServer({ data, flags: [flag, `${port}`] });
      const started = await Promise.allSettled(Array.from({ length: STARTS }, start));
      const servers = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      const refusals = started.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []));
      await Promise.all(servers.map((server) => server.stop()));
      expect(servers).toHaveLength(1);
      for (const refusal of refusals)
        expect(refusal).toMatch(new RegExp(`port ${port} .* is in use by \\S+ \\(process`));
    }
  },
);
