// The peers: what each is asked for the same answer, who is first in a race of imports, and that a machine without them
// says why in one line.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { TRUSTED_HOSTS } from '../../../../bench/authority/callScenarios.ts';
import { choiceFor } from '../../../../bench/scenarios/choice.ts';
import { prepareDataSet } from '../../../../bench/load/dataSet.ts';
import { readNaively } from '../../../../bench/scenarios/naive.ts';
import { startNginx } from '../../../../bench/peers/nginx.ts';
import { IMPORT_PEERS, raceImports, runImportRace } from '../../../../bench/peers/importRace.ts';
import { hasProxies } from '../../../../bench/proxy/proxyBench.ts';
import { installPeers } from '../../../../bench/peers/peerInstall.ts';
import { PEER_QUESTIONS, PEERS } from '../../../../bench/peers/peers.ts';
import type { Choice } from '../../../../bench/scenarios/scenario.ts';
import { SOAP_PEERS, startSoapPeer } from '../../../../bench/authority/soapPeers.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';

const cacheDirectory = temporaryDirectory();
const PATH = process.env['PATH'];

afterEach(() => {
  process.env['PATH'] = PATH;
});

async function smallChoice(): Promise<Choice> {
  const { directory } = await prepareDataSet({ observations: 200, seed: 5, cacheDirectory }, () => {});
  return choiceFor(await readNaively(directory));
}

describe('every peer', () => {
  test('is asked each question in its own words, or not at all', async () => {
    const choice = await smallChoice();
    const targets = PEERS.map(({ name, targetOf }) => [
      name,
      ...PEER_QUESTIONS.map(({ name: question, question: ask }) =>
        targetOf(question, ask(choice).target, choice)
          ?.replace(/\d+\/?$/, 'N')
          .replace(choice.word, 'WORD'),
      ),
    ]);
    const list = '/api/v3/observations/?format=api&';
    expect(targets).toEqual([
      [
        'Fastify + SQLite',
        `${list}offset=N`,
        `${list}offset=N`,
        '/api/v3/observations/N',
        `${list}publicationState=citable&offset=N`,
        `${list}title__contains=WORD&offset=N`,
      ],
      [
        'the same with FTS5',
        undefined,
        undefined,
        undefined,
        undefined,
        `${list}title__contains=WORD&offset=0&by=grams`,
      ],
      [
        'json-server',
        '/observations?_start=0&_limit=N',
        '/observations?_start=100&_limit=N',
        '/observations/N',
        '/observations?publicationState=citable&_start=0&_limit=N',
        '/observations?title_like=WORD&_start=0&_limit=N',
      ],
    ]);
  });
});

describe('a race of imports', () => {
  /** A program that notes its name, makes the file that it is told to, and says how many records it has read. */
  const contestantOf = (log: string, name: string, records: number) => {
    const peer = name === 'ours' ? undefined : { ...IMPORT_PEERS[0]!, name };
    const script = `echo ${name} >> "$0"; : > "$1"; echo '{"parsed":${records}}'`;
    return { peer, program: '/bin/sh', words: ['-c', script, log] };
  };
  const raced = async (rounds: number, ...records: readonly [string, number][]) => {
    const log = join(temporaryDirectory(), 'log');
    const contestants = records.map(([name, count]) => contestantOf(log, name, count));
    const options = { rounds, cacheDirectory: temporaryDirectory() };
    const { peers } = await raceImports(contestants, '.', options, { onStep: () => undefined });
    return { ran: readFileSync(log, 'utf8').trim().split('\n'), peers: peers.map(({ peer }) => peer.name) };
  };

  test('has another one first in each round', async () => {
    const { ran, peers } = await raced(3, ['ours', 5], ['a', 5], ['b', 5]);
    expect(ran.filter((_, i) => i % 3 === 0)).toEqual(['a', 'b', 'ours']);
    expect(ran.toSorted()).toEqual(['a', 'a', 'a', 'b', 'b', 'b', 'ours', 'ours', 'ours']);
    expect(peers).toEqual(['a', 'b']);
  });

  test('is lost where anybody reads other records than ours, which may be the wrong ones', async () => {
    await expect(raced(1, ['ours', 5], ['a', 4], ['b', 5])).rejects.toThrow('a holds 4 records, and not 5');
  });
});

describe('where a peer cannot run', () => {
  test('Fastify and json-server are left out with the reason', async () => {
    process.env['PATH'] = temporaryDirectory();
    expect(await installPeers(cacheDirectory)).toEqual({
      missing: 'no Node on the PATH beside the one of this project',
    });
  });

  test.each(SOAP_PEERS.filter(({ name }) => name !== 'node soap').map((peer) => [peer.name, peer] as const))(
    '%s is left out with the reason',
    async (_, peer) => {
      process.env['PATH'] = temporaryDirectory();
      const options = { folder: temporaryDirectory(), wsdl: '', call: TRUSTED_HOSTS.call };
      expect(await startSoapPeer(peer, options)).toEqual({ missing: expect.stringContaining('ENOENT') });
    },
  );

  test('an import is measured by itself', async () => {
    process.env['PATH'] = temporaryDirectory();
    const said: string[] = [];
    const options = { observations: 200, seed: 5, cacheDirectory, rounds: 1 };
    const { subject, peers } = await runImportRace(options, {
      onProgress: () => {},
      onStep: (line) => said.push(line),
    });
    expect(peers).toEqual([]);
    expect(subject.fileBytes).toBeGreaterThan(100_000);
    expect(subject.peakBytes).toBeGreaterThan(10_000_000);
    expect(subject.cpuSeconds.least).toBeGreaterThan(0);
    expect(said).toContain('left out better-sqlite3, DuckDB: no Node on the PATH beside the one of this project');
  });

  test('proxies are left out that nothing makes a certificate for', () => {
    const programs = temporaryDirectory();
    const install = (name: string) => writeFileSync(join(programs, name), '#!/bin/sh\nexit 0\n', { mode: 0o755 });
    process.env['PATH'] = programs;
    for (const name of ['nginx', 'haproxy']) install(name);
    expect(hasProxies()).toBe(false);
    install('openssl');
    expect(hasProxies()).toBe(true);
  });

  test('nginx is left out with the reason', async () => {
    process.env['PATH'] = temporaryDirectory();
    expect(await startNginx(temporaryDirectory())).toEqual({ missing: expect.stringContaining('ENOENT') });
  });
});
