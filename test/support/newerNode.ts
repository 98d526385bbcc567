// Prints a note if the registry has a newer Node 22 than package-lock.json, as after a security release. Part of `npm
// run check`; prints nothing and succeeds if the registry does not respond in time.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const WAIT_MS_MAX = 5_000;
const LOCK = new URL('../../package-lock.json', import.meta.url);

const lock = JSON.parse(readFileSync(LOCK, 'utf8')) as { packages: Record<string, { readonly version: string }> };
const platform = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
const name = [`node-${platform}`, `node-bin-${platform}`].find((one) => `node_modules/${one}` in lock.packages);
if (name !== undefined) {
  const { version } = lock.packages[`node_modules/${name}`]!;
  const newest = newestMatch(`${name}@^${version}`);
  if (newest !== undefined && newest !== version) {
    process.stdout.write(`note: ${name} ${newest} is in the registry, package-lock.json has ${version}; `);
    process.stdout.write(`update it: npm update ${name}\n`);
  }
}

/** The newest version of a package in the registry, within a range. */
function newestMatch(wanted: string): string | undefined {
  try {
    const stdout = execFileSync('npm', ['view', wanted, 'version', '--json', '--fetch-retries=0'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: WAIT_MS_MAX,
      killSignal: 'SIGKILL',
    });
    return [JSON.parse(stdout) as string | string[]].flat().at(-1);
  } catch {
    return undefined;
  }
}
