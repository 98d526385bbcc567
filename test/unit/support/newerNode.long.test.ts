import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../support/dataSets.ts';
import { ROOT } from '../../support/sources.ts';

const cache = temporaryDirectory();

/**
 * Runs the script with a registry on loopback that has these versions of every package, or never responds. Returns its
 * output.
 */
async function printedWith(versions: readonly string[] | 'no response'): Promise<string> {
  const registry = createServer((request, response) => {
    if (versions === 'no response') return;
    const name = request.url!.slice(1);
    const manifests = versions.map((version) => [version, { name, version, dist: { tarball: '', shasum: '' } }]);
    response.end(JSON.stringify({ name, 'dist-tags': { latest: '26.0.0' }, versions: Object.fromEntries(manifests) }));
  });
  await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve));
  const { port } = registry.address() as AddressInfo;
  const env = { ...process.env, npm_config_registry: `http://127.0.0.1:${port}/`, npm_config_cache: cache };
  try {
    const { stdout } = await promisify(execFile)(process.execPath, ['test/support/newerNode.ts'], { cwd: ROOT, env });
    return stdout;
  } finally {
    registry.closeAllConnections();
    registry.close();
  }
}

test('names the newest Node 22 of the registry and the command that installs it', async () => {
  const printed = await printedWith(['22.18.0', '22.98.0', '22.99.1', '26.0.0']);
  expect(printed).toMatch(
    /^note: (\S+) 22\.99\.1 is in the registry, package-lock\.json has 22\.\S+; update it: npm update \1\n$/,
  );
});

test('prints nothing if the registry has nothing newer', async () => {
  expect(await printedWith(['22.18.0', '26.0.0'])).toBe('');
});

test('prints nothing and succeeds after 5 s if the registry does not respond', async () => {
  expect(await printedWith('no response')).toBe('');
});
