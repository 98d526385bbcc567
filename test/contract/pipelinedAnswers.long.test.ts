// Requests pipelined on one connection to a running server, over both transports: all responses arrive whole and in
// order, or the connection ends at a response from the pool, and a client that retries gets the rest.
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runServer } from '../support/commandProcess.ts';
import { clientOf, type Client } from '../support/client.ts';
import { RawSocket, requestOf, type RawAnswer } from '../support/rawSocket.ts';
import { sampleSnapshot } from '../support/sampleSnapshot.ts';

const LIST = '/observations/';
const GZIP = ['Accept-Encoding: gzip'];
const CHEAP = `/api/v3${LIST}?limit=3`;
/** Every way to make a short response without stored blocks, with a cheap request between each two. */
const LIVE: readonly string[] = [
  `/api/v2${LIST}?limit=10`,
  CHEAP,
  `/api/v3${LIST}?fields=title,abstract&limit=50`,
  CHEAP,
  `/api/v3${LIST}?format=csv&limit=10`,
  CHEAP,
  `/api/v2${LIST}?format=ndjson&limit=10`,
  CHEAP,
];
/** Maximum of retries: the pool takes a while to start, and a try takes 2 ms. */
const TRIES_MAX = 5000;

interface Step {
  readonly target: string;
  readonly lines: readonly string[];
}

/** Sends all requests at once. Returns the complete responses; then the connection is closed. */
async function pipelined(port: number, steps: readonly Step[]): Promise<readonly RawAnswer[]> {
  const socket = await RawSocket.open(port);
  await socket.write(steps.map(({ target, lines }) => requestOf('GET', target, lines)).join(''));
  const answers: RawAnswer[] = [];
  while (answers.length < steps.length) {
    const answer = await socket.answer();
    if (!answer) {
      // No partial response may arrive: its length would give it away.
      expect(await socket.ended()).toBe('');
      break;
    }
    answers.push(answer);
  }
  socket.vanish();
  return answers;
}

function bodyOf({ headers, body }: RawAnswer): Buffer {
  const bytes = Buffer.from(body, 'latin1');
  return headers.get('content-encoding')?.[0] === 'gzip' ? gunzipSync(bytes) : bytes;
}

describe.each(['stored', 'live'])('with --gzip %s', (mode) => {
  let server: Awaited<ReturnType<typeof runServer>>;
  let client: Client;
  let record = '';
  beforeAll(async () => {
    server = await runServer(['--data', await sampleSnapshot(), '--threads', '1', '--gzip', mode]);
    client = clientOf(server.url);
    const [first] = (JSON.parse((await client.get(`/api/v3${LIST}?limit=1`)).body) as Found).results;
    record = `/api/v3${LIST}${first!.ob_id}/`;
  });
  afterAll(async () => {
    client.close();
    await server.kill();
  });

  interface Found {
    readonly results: readonly { readonly ob_id: number }[];
  }

  /** Checks that these are the responses to the first steps, byte for byte as each is answered alone. */
  async function expectRight(steps: readonly Step[], answers: readonly RawAnswer[]): Promise<void> {
    for (const [i, answer] of answers.entries()) {
      expect(answer.status).toBe(200);
      expect(bodyOf(answer).equals((await client.get(steps[i]!.target)).bytes), steps[i]!.target).toBe(true);
    }
  }

  describe.each(['uWebSockets.js', 'node:http'])('pipelined requests over %s', (transport) => {
    const port = (): number => (transport === 'node:http' ? server.http10Port : server.port);

    test('after a long response that is compressed elsewhere are answered in order, or the connection ends', async () => {
      const steps = [`/api/v2${LIST}`, CHEAP].map((target) => ({ target, lines: GZIP }));
      const answers = await pipelined(port(), steps);
      expect(answers).toHaveLength(transport === 'node:http' ? steps.length : 0);
      await expectRight(steps, answers);
    });

    test('after short responses that are compressed live are answered in order', async () => {
      const steps = LIVE.map((target) => ({ target, lines: GZIP }));
      const answers = await pipelined(port(), steps);
      expect(answers.map(({ status }) => status)).toEqual(steps.map(() => 200));
      expect(answers.map(({ headers }) => headers.has('content-encoding'))).toContain(true);
      await expectRight(steps, answers);
    });

    test('after a query of the pool are answered, or the connection ends and a retry gets the responses', async () => {
      const heavy = `/api/v3${LIST}?abstract__regex=${transport === 'node:http' ? 'wi.d' : 'oc.an'}&limit=5`;
      const steps: readonly Step[] = [
        { target: heavy, lines: [] },
        { target: record, lines: [] },
        { target: `/api/v2${LIST}?limit=10`, lines: GZIP },
        { target: `/api/v3${LIST}`, lines: [] },
      ];
      const counts: number[] = [];
      for (let tries = 0; tries < TRIES_MAX && counts.at(-1) !== steps.length; tries++) {
        const answers = await pipelined(port(), steps);
        await expectRight(steps, answers);
        counts.push(answers.length);
      }
      expect(counts.at(-1)).toBe(steps.length);
      // uWebSockets.js closes the connection; node:http keeps the order by itself.
      expect(counts[0]).toBe(transport === 'node:http' ? steps.length : 0);
    });
  });
});
