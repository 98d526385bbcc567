// What the benches are made of: that they check answers, and what they make of figures. runs.long.test.ts runs them.
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import { BUDGETS, placeOfBudget } from '../../../bench/budgets.ts';
import { checkQuestions } from '../../../bench/scenarios/check.ts';
import { choiceFor } from '../../../bench/scenarios/choice.ts';
import { cpuMicroseconds } from '../../../bench/processes/cpuTime.ts';
import { observationsOf, prepareDataSet } from '../../../bench/load/dataSet.ts';
import { startLoadClient } from '../../../bench/client/loadClient.ts';
import { naiveCountOf } from '../../../bench/processes/memoryScan.ts';
import { readNaively } from '../../../bench/scenarios/naive.ts';
import { chosenOf } from '../../../bench/scenarios/only.ts';
import { summaryOf } from '../../../bench/load/rounds.ts';
import { CATALOGUE_SCENARIOS, SCENARIOS } from '../../../bench/scenarios/scenarios.ts';
import { verdictOf } from '../../../bench/report/verdict.ts';
import { temporaryDirectory } from '../../support/dataSets.ts';

const cacheDirectory = temporaryDirectory();
const DATA = { observations: 200, seed: 5, cacheDirectory };

describe('answers are checked before they are measured:', () => {
  const servers: Server[] = [];
  afterAll(() => servers.forEach((server) => server.close()));

  async function answering(answer: (path: string, times: number) => [status: number, body: string]): Promise<number> {
    const times = new Map<string, number>();
    const server = createServer((request, response) => {
      const path = request.url ?? '';
      times.set(path, (times.get(path) ?? 0) + 1);
      const [status, body] = answer(path, times.get(path)!);
      response.writeHead(status, { 'Content-Length': Buffer.byteLength(body) }).end(body);
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }

  async function questionsOf(name: string) {
    const { directory } = await prepareDataSet(DATA, () => {});
    const choice = choiceFor(await readNaively(directory));
    const questions = CATALOGUE_SCENARIOS.find((scenario) => scenario.name === name)!.questions(choice);
    return { questions, catalogue: choice.catalogue };
  }

  test('a wrong status is refused', async () => {
    const { questions, catalogue } = await questionsOf('tiny');
    const port = await answering(() => [200, '{"detail":"Not found."}']);
    await expect(checkQuestions(port, questions, catalogue)).rejects.toThrow('the status of');
  });

  test('a record that differs by one byte from its line is refused', async () => {
    const { questions, catalogue } = await questionsOf('record');
    const port = await answering(() => [200, '{"ob_id":1}']);
    await expect(checkQuestions(port, questions, catalogue)).rejects.toThrow('is another record');
  });

  test('a page with the right count and other records is refused', async () => {
    const { questions, catalogue } = await questionsOf('list');
    const port = await answering(() => [200, '{"count":200,"next":"x","previous":null,"results":[]}']);
    await expect(checkQuestions(port, questions, catalogue)).rejects.toThrow('holds other records');
  });

  test('an answer that is another one the second time is refused', async () => {
    const { questions, catalogue } = await questionsOf('tiny');
    const port = await answering((_path, times) => [404, times === 1 ? '{"detail":"Not found."}' : '{"detail":"?"}']);
    await expect(checkQuestions(port, questions, catalogue)).rejects.toThrow('has a second answer');
  });

  test('the load client stops at an answer of another length, status or digest', async () => {
    const port = await answering((path, times) => [
      path === '/b' ? 500 : 200,
      path === '/c' && times > 3 ? 'more' : 'four',
    ]);
    const client = startLoadClient();
    const order = { port, requests: 8, connections: 2, withinMs: 10_000 };
    const run = (target: string, bytes: number) =>
      client.run({ ...order, exchanges: [{ target, status: 200, bytes }] });
    try {
      await expect(run('/a', 4)).resolves.toMatchObject({ requests: 8, bodyBytes: 32 });
      await expect(run('/a', 5)).rejects.toThrow('/a: got status 200 and 4 bytes, expected 200 and 5');
      await expect(run('/b', 4)).rejects.toThrow('got status 500');
      const near = (bytes: number) =>
        client.run({ ...order, exchanges: [{ target: '/a', status: 200, bytes, bytesSlack: 2 }] });
      await expect(near(6)).resolves.toMatchObject({ bodyBytes: 32 });
      await expect(near(7)).rejects.toThrow('got status 200 and 4 bytes');
      const digested = { status: 200, bytes: 4, digest: createHash('sha256').update('four').digest('hex') };
      const exact = (target: string) => client.run({ ...order, exchanges: [{ ...digested, target }] });
      await expect(exact('/a')).resolves.toMatchObject({ requests: 8, bodyBytes: 32 });
      await expect(exact('/c')).rejects.toThrow(/^\/c: another body, of digest [0-9a-f]{64}$/);
    } finally {
      await client.stop();
    }
  });
});

describe('the load client', () => {
  test('sends the headers of an exchange', async () => {
    const server = createServer(({ headers }, response) => {
      const body = headers['accept-encoding'] ?? '';
      response.writeHead(200, { 'Content-Length': body.length }).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const client = startLoadClient();
    try {
      const { port } = server.address() as AddressInfo;
      const exchanges = [{ target: '/', headers: { 'Accept-Encoding': 'gzip' }, status: 200, bytes: 4 }];
      const order = { port, exchanges, requests: 4, connections: 2, withinMs: 10_000 };
      await expect(client.run(order)).resolves.toMatchObject({ requests: 4, bodyBytes: 16 });
    } finally {
      await client.stop();
      server.close();
    }
  });

  test('posts the body of an exchange', async () => {
    const bodies: string[] = [];
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (piece: Buffer) => (body += piece.toString()));
      request.once('end', () => {
        bodies.push(`${request.method} ${body}`);
        response.writeHead(200, { 'Content-Length': 4 }).end('four');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const client = startLoadClient();
    try {
      const { port } = server.address() as AddressInfo;
      const posted = { target: '/', headers: { 'Content-Type': 'text/xml' }, status: 200, bytes: 4 };
      const order = { port, requests: 4, connections: 2, withinMs: 10_000 };
      const exchanges = [{ ...posted, body: '\u00e9 same' }];
      await client.run({ ...order, exchanges });
      expect(bodies.splice(0)).toEqual(Array.from({ length: 4 }, () => 'POST \u00e9 same'));
    } finally {
      await client.stop();
      server.close();
    }
  });

  test('counts what fails where it may, and goes on over connections of its own', async () => {
    let asked = 0;
    const server = createServer((request, response) => {
      asked++;
      if (asked % 4 === 0) request.socket.destroy();
      else if (asked % 4 === 1) response.writeHead(200, { 'Content-Length': 4, Connection: 'close' }).end('four');
      else response.writeHead(asked % 4 === 2 ? 503 : 200, { 'Content-Length': 4 }).end('four');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const client = startLoadClient();
    try {
      const { port } = server.address() as AddressInfo;
      const exchanges = [{ target: '/', status: 200, bytes: 4 }];
      const order = { port, ports: [port, port], exchanges, requests: 40, connections: 2, withinMs: 10_000 };
      await expect(client.run({ ...order, errorsMax: 40 })).resolves.toMatchObject({ requests: 20, errors: 20 });
      await expect(client.run({ ...order, errorsMax: 5 })).rejects.toThrow(/503|closed|ECONNRESET/);
      await expect(client.run(order)).rejects.toThrow(/503|closed|ECONNRESET/);
    } finally {
      await client.stop();
      server.close();
    }
  });

  test('measures from when a request was due, so that a pause of the server is in all that came meanwhile', async () => {
    const PAUSE_MS = 400;
    let asked = 0;
    const server = createServer((_, response) => {
      const answer = (): void => void response.writeHead(200, { 'Content-Length': 4 }).end('four');
      if (asked++ === 0) setTimeout(answer, PAUSE_MS);
      else answer();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const client = startLoadClient();
    try {
      const { port } = server.address() as AddressInfo;
      const exchanges = [{ target: '/', status: 200, bytes: 4 }];
      const order = { port, exchanges, requests: 20, connections: 1, withinMs: 10_000, perSecond: 100 };
      const { p50Ms, p99Ms } = await client.run(order);
      // 20 requests, due every 10 ms, of which the first alone is answered late.
      expect(p99Ms).toBeGreaterThan(PAUSE_MS * 0.9);
      expect(p50Ms).toBeGreaterThan(PAUSE_MS / 2);
    } finally {
      await client.stop();
      server.close();
    }
  });

  test('ends an order when it is told that it is enough, and takes another one', async () => {
    const server = createServer((_, response) => void response.writeHead(200, { 'Content-Length': 4 }).end('four'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const client = startLoadClient();
    try {
      const { port } = server.address() as AddressInfo;
      const exchanges = [{ target: '/', status: 200, bytes: 4 }];
      const order = { port, exchanges, connections: 2, withinMs: 10_000 };
      const endless = client.run({ ...order, requests: Number.MAX_SAFE_INTEGER });
      client.enough();
      expect((await endless).fault).toBeUndefined();
      await expect(client.run({ ...order, requests: 8, perSecond: 4000 })).resolves.toMatchObject({ requests: 8 });
    } finally {
      await client.stop();
      server.close();
    }
  });
});

describe('the data set', () => {
  test('is made once and kept', async () => {
    const progress: string[] = [];
    const made = await prepareDataSet(DATA, () => {});
    const again = await prepareDataSet(DATA, ({ phase }) => void progress.push(phase));
    expect(again).toEqual(made);
    expect(progress).toEqual([]);
  });

  test('may be one that is there: it is imported once, or taken with its snapshot, and left as it is', async () => {
    const { directory } = await prepareDataSet(DATA, () => {});
    const given = { ...DATA, observations: 9, dataSet: directory };
    const names = readdirSync(directory);
    const imported = await prepareDataSet(given, () => {});
    expect(imported.directory).toBe(directory);
    expect(imported.snapshot.startsWith(directory)).toBe(false);
    expect(await prepareDataSet(given, () => expect.unreachable('it was imported again'))).toEqual(imported);
    const { snapshot } = await prepareDataSet({ ...given, snapshot: imported.snapshot }, () => {});
    expect(snapshot).toBe(imported.snapshot);
    expect(readdirSync(directory)).toEqual(names);
    expect(await observationsOf(given)).toBe(DATA.observations);
  });
});

describe('the names that a run is limited to', () => {
  const all = [{ name: 'a' }, { name: 'b' }];

  test('choose in the order of the table, none choosing all', () => {
    expect(chosenOf(all, ['b', 'a'])).toEqual(all);
    expect(chosenOf(all, [])).toEqual(all);
  });

  test('are refused when nothing has such a name', () => {
    expect(() => chosenOf(all, ['a', 'c'])).toThrow('there is no c; --only takes a, b');
  });
});

describe('figures', () => {
  test('are the least of the rounds, with how far the middle one lies above it', () => {
    expect(summaryOf([12, 10, 50])).toEqual({ least: 10, spread: expect.closeTo(0.2) });
  });

  test('count a thread that began between two looks whole, and leave out one that ended', () => {
    const before = new Map([
      ['1', 5_000],
      ['2', 9_000],
    ]);
    const after = new Map([
      ['1', 6_000],
      ['3', 2_000],
    ]);
    expect(cpuMicroseconds(before, after)).toBe(3);
  });

  test.each([
    [1, 'great'],
    [1.2, 'pass'],
    [1.4, 'short'],
  ])('a ratio of %d against a pass of 1.3 and a great of 1.05 is judged %s', (ratio, verdict) => {
    expect(verdictOf({ ratio, spread: 0.1, pass: 1.3, great: 1.05 })).toBe(verdict);
  });

  test('are not judged when the control spreads by more than 40 %', () => {
    expect(verdictOf({ ratio: 1, spread: 0.41, pass: 1.3, great: 1.05 })).toBe('too noisy');
  });

  test('have no verdict where the design has no target', () => {
    expect(verdictOf({ ratio: 1, spread: 0.1 })).toBe('-');
  });
});

test('the memory scan of the controls counts what String.prototype.indexOf does', () => {
  const text = 'abababxabx';
  for (const needle of ['a', 'ab', 'aba', 'x', 'abx', 'zz', text, `${text}x`]) {
    let count = 0;
    for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + 1)) count++;
    expect([needle, naiveCountOf(Buffer.from(text), Buffer.from(needle))]).toEqual([needle, count]);
  }
});

test('scenarios have names of their own, controls that exist, targets in order, and a budget each', () => {
  const names = SCENARIOS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const { name, control, pass = Infinity, great = 0 } of SCENARIOS) {
    expect(great).toBeLessThan(pass);
    if (typeof control === 'object') expect(names).toContain(control.scenario);
    expect(BUDGETS.ratios, placeOfBudget('ratios', name)).toHaveProperty(name);
  }
});
