// The peers: what each is asked for the same answer, and that a machine without them says why in one line.
import { afterEach, describe, expect, test } from 'vitest';
import { TRUSTED_HOSTS } from '../../../../bench/authority/callScenarios.ts';
import { choiceFor } from '../../../../bench/scenarios/choice.ts';
import { prepareDataSet } from '../../../../bench/load/dataSet.ts';
import { readNaively } from '../../../../bench/scenarios/naive.ts';
import { startNginx } from '../../../../bench/peers/nginx.ts';
import { runImportRace } from '../../../../bench/peers/importRace.ts';
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

  test('nginx is left out with the reason', async () => {
    process.env['PATH'] = temporaryDirectory();
    expect(await startNginx(temporaryDirectory())).toEqual({ missing: expect.stringContaining('ENOENT') });
  });
});
