// A base URL with a path and the shipped proxies, unchanged and with the line of deploy/README.md that removes the
// path: all links in responses are below that path and work. Follows one link of each kind.
import { parseHTML } from 'linkedom';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PROXIES, type ProxyName } from '../../bench/proxy/shippedProxies.ts';
import { clientOf, type Received } from '../support/client.ts';
import { temporaryDirectory } from '../support/dataSets.ts';
import { hasProgram } from '../support/debian.ts';
import { BROWSER } from '../support/htmlPages.ts';
import { PUBLIC_URL, type Replica, startProxy, startReplica } from '../support/proxies.ts';
import { readProjectFile } from '../support/sources.ts';

const PATH = '/catalogue';
const BASE_URL = PUBLIC_URL + PATH;
/** The line that removes the path, after the line of the shipped file that it follows. */
const STRIPPING = {
  nginx: ['    server_name catalogue.example.org;\n', `rewrite ^${PATH}(/.*)$ $1;`],
  haproxy: ['  bind :80\n', `http-request replace-path ^${PATH}(/.*) \\1`],
} as const;
/** The start of a walk: all other pages are found from here. */
const STARTS = [
  '/',
  '/browse/',
  '/api/v3/',
  '/api/v2/observations/',
  '/docs',
  '/openapi.json',
  '/attAuthority.wsdl?wsdl',
];
const NAMES = (Object.keys(STRIPPING) as (keyof typeof STRIPPING)[]).filter((name) =>
  hasProgram(PROXIES[name satisfies ProxyName].program),
);

/** All links of a response to the public host. */
function linksOf(at: string, { headers, body }: Received): readonly string[] {
  const text = body.replace(/&(?:quot|#39|lt|gt);/g, '"');
  const found = [...text.matchAll(/https:\/\/catalogue\.example\.org[^"'\s<>\\)]*/g)].map(([url]) => url);
  found.push(...[...(headers['link'] ?? '').matchAll(/<([^>]*)>/g)].map(([, url]) => new URL(url!, at).href));
  if (headers['location'] !== undefined) found.push(new URL(headers['location'], at).href);
  if (headers['content-type']?.startsWith('text/html')) {
    const { document } = parseHTML(body);
    for (const name of ['href', 'src', 'action'])
      for (const element of document.querySelectorAll(`[${name}]`))
        found.push(new URL(element.getAttribute(name), at).href);
  }
  return found.filter((url) => url.startsWith(PUBLIC_URL)).map((url) => url.replace(/#.*/, ''));
}

/** Links of the same kind differ only in numbers and query: one of each kind is followed. */
const kindOf = (url: string): string => url.replace(/\?.*/, '?').replace(/\d+/g, 'N');
/** Number of links to follow: all paths of the API are among the first. */
const FOLLOWED = 120;

const folder = temporaryDirectory();
let replica: Replica;
beforeAll(async () => void (replica = await startReplica(0, ['--base-url', BASE_URL, '--links', 'request'])));
afterAll(() => replica.process.kill());

describe.each(NAMES)('a base URL with a path behind %s', (name) => {
  const [place, line] = STRIPPING[name];

  test.each([
    ['passes it on', []],
    ['takes it away', [[place, `${place}    ${line}\n`] as const]],
  ] as const)('has all links below the path, and they work, if the proxy %s', async (_, more) => {
    const proxy = await startProxy(name, folder, [replica], more);
    const client = clientOf(proxy.url);
    const waiting = STARTS.map((path) => BASE_URL + path);
    const seen = new Set(waiting.map(kindOf));
    const statuses = new Map<string, number>();
    for (let at = waiting.shift(); at !== undefined && statuses.size < FOLLOWED; at = waiting.shift()) {
      const headers = { ...(at.includes('/browse/') ? BROWSER : {}), 'x-forwarded-proto': 'https' };
      const answer = await client.get(at.slice(PUBLIC_URL.length), headers);
      statuses.set(at, answer.status);
      for (const url of linksOf(at, answer)) {
        expect(`${url}/`.startsWith(`${BASE_URL}/`), `${url} at ${at}`).toBe(true);
        if (!seen.has(kindOf(url))) waiting.push(url);
        seen.add(kindOf(url));
      }
    }
    // Without the parameter `since` it is a 400.
    statuses.delete(`${BASE_URL}/api/v3/changes/`);
    const lost = [...statuses].filter(([, status]) => status !== 200 && status !== 301 && status !== 302);
    expect(lost).toEqual([]);
    expect(statuses.size).toBe(FOLLOWED - 1);
    expect((await client.get(`${PATH}/attAuthority.wsdl?wsdl`)).body).toContain(
      `location="${BASE_URL}/attAuthority.wsdl"`,
    );
    client.close();
    await proxy.stop();
  });

  test('has the line that removes the path in the runbook', () => {
    expect(readProjectFile('deploy/README.md')).toContain(line);
  });
});
