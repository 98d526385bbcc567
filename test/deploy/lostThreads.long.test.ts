import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PROXIES } from '../../bench/proxy/shippedProxies.ts';
import { temporaryDirectory } from '../support/dataSets.ts';
import { hasProgram } from '../support/debian.ts';
import { type Killer, killerIn } from '../support/killer.ts';
import { type Proxy, type Replica, startProxy, startReplica, loadOn } from '../support/proxies.ts';
import { times } from '../support/ring.ts';

const KILLS = times(3, 20);
const folder = temporaryDirectory();

describe.skipIf(!hasProgram(PROXIES.nginx.program))('behind nginx', () => {
  const killers: Killer[] = [];
  let replicas: Replica[];
  let nginx: Proxy;
  beforeAll(async () => {
    for (let i = 0; i < 3; i++) killers.push(killerIn(folder));
    replicas = await Promise.all(killers.map(({ node }) => startReplica(1, [], node)));
    nginx = await startProxy('nginx', folder, replicas);
  });
  afterAll(async () => {
    await nginx.stop();
    await Promise.all(replicas.map(({ process }) => process.kill()));
  });

  test('no request fails while serving threads die', async () => {
    const load = loadOn(nginx);
    for (let i = 0; i < KILLS; i++) {
      const replica = replicas[i % 3]!;
      killers[i % 3]!.kill('serving', 'throws');
      expect(await replica.process.ended).toEqual({ code: 70, signal: null });
      await replica.start();
    }
    const { answered, faults } = await load.stop();
    expect(faults).toEqual([]);
    expect(answered).toBeGreaterThan(100);
  });
});
