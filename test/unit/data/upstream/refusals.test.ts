// Refusals of a crawl: invalid root views, an endless number of hosts, and output with the data of another catalogue.
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { assertSource } from '../../../../data/upstream/publish.ts';
import { crawled, newOutputIn, recordsFrom } from '../../../support/crawls.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { plainUpstreams } from '../../../support/plainUpstream.ts';

const directory = temporaryDirectory();
const upstreamOf = plainUpstreams();
const newOutput = (): string => newOutputIn(directory);

test.each([
  [
    'a link that is no text',
    '{"times":{"toString":1}}',
    /^the root view .*: times: "" is no link to a list; tried 3 times/,
  ],
  ['no name that is known', '{"\\u001b[2J":[],"token":"https://a.example.org/api/token/"}', /: it names no collection/],
])('refuses and reports a root view with %s', async (_what, root, message) => {
  const server = createServer((_request, response) => response.end(root));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await expect(crawled(`http://127.0.0.1:${port}`, newOutput())).rejects.toMatchObject({
    code: 'network',
    message: expect.stringMatching(message) as string,
  });
  server.closeAllConnections();
  server.close();
});

test('replaces only data of the same catalogue, and reports damaged data that is followed', async () => {
  const { url } = await upstreamOf({ collections: { notes: recordsFrom(0, 1) } });
  const output = newOutput();
  await assertSource(output, url, true);
  await crawled(url, output);
  await assertSource(output, url, true);
  const refused = (cure: string): unknown =>
    expect.stringMatching(`holds what was crawled of .*: name another .*${cure}`);
  for (const [isFollowed, cure] of [
    [true, 'or remove it$'],
    [false, 'or replace it with --force'],
  ] as const) {
    const judged = assertSource(output, 'http://other.example', isFollowed);
    await expect(judged).rejects.toMatchObject({ code: 'usage', message: refused(cure) });
  }
  writeFileSync(join(output, 'MANIFEST.json'), '{');
  await assertSource(output, 'http://other.example', true);
  // An error in the file, not a refusal of fetched data, which would be removed.
  await expect(assertSource(output, url, false)).rejects.toMatchObject({
    code: 'file',
    message: expect.stringContaining(join(output, 'MANIFEST.json')),
  });
});

test('refuses an upstream with links to ever more hosts before it has read all of a page', async () => {
  const text = Array.from({ length: 5000 }, (_, i) => `http://h${i}.test/api/v3/times/1/`);
  const upstream = await upstreamOf({ collections: { notes: [{ ob_id: 1, links: text }] } });
  const crawl = crawled(upstream.url, newOutput());
  await expect(crawl).rejects.toMatchObject({ code: 'input', message: expect.stringContaining('more than 4096') });
});
