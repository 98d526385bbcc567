// `npm run release` in a clone of this checkout.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../support/dataSets.ts';
import { ROOT } from '../../support/sources.ts';

const directory = temporaryDirectory();
const clone = join(directory, 'clone');
const output = join(directory, 'output');
const REPOSITORY = 'https://git.example.org/data/catalogue-replica';

function run(...words: readonly string[]): { readonly status: number | null; readonly err: string } {
  const { status, stderr } = spawnSync(process.execPath, ['test/support/release.ts', ...words], {
    cwd: clone,
    encoding: 'utf8',
  });
  return { status, err: stderr };
}

beforeAll(() => {
  execFileSync('git', ['clone', '--quiet', ROOT, clone]);
  // The script may not be committed yet.
  for (const path of ['test/support/release.ts', 'package.json', 'CHANGELOG.md'])
    cpSync(join(ROOT, path), join(clone, path));
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.org'];
  execFileSync('git', ['add', '--all'], { cwd: clone });
  execFileSync('git', [...identity, 'commit', '--quiet', '--allow-empty', '--message', 'a'], { cwd: clone });
});

describe('npm run release', () => {
  test('writes the package with its addresses, an SBOM, checksums and release notes', () => {
    expect(run('--repository', `${REPOSITORY}.git`, '--output', output)).toEqual({
      status: 0,
      err: expect.any(String),
    });
    const version = '0.1.0';
    const tarball = `catalogue-replica-${version}.tgz`;
    const sbom = `catalogue-replica-${version}.cdx.json`;
    expect(readdirSync(output)).toEqual(['RELEASE-NOTES.md', 'SHA256SUMS', sbom, tarball].toSorted());
    const packed = execFileSync('tar', ['-xzOf', join(output, tarball), 'package/package.json'], { encoding: 'utf8' });
    expect(JSON.parse(packed)).toMatchObject({
      version,
      repository: { type: 'git', url: `git+${REPOSITORY}.git` },
      bugs: `${REPOSITORY}/issues`,
      homepage: `${REPOSITORY}#readme`,
    });
    const { components } = JSON.parse(readFileSync(join(output, sbom), 'utf8')) as { components: { name: string }[] };
    const names = components.map(({ name }) => name);
    expect(names).toContain('piscina');
    expect(names).not.toContain('vitest');
    expect(readFileSync(join(output, 'RELEASE-NOTES.md'), 'utf8')).toMatch(/^### Upgrading/);
    execFileSync('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: output });
  });

  test('refuses a missing address, a used folder, and uncommitted changes', () => {
    expect(run()).toEqual({ status: 2, err: expect.stringContaining('--repository URL is missing') });
    expect(run('--repository', REPOSITORY, '--output', ROOT)).toEqual({
      status: 2,
      err: expect.stringContaining('is not empty'),
    });
    writeFileSync(join(clone, 'README.md'), 'changed');
    expect(run('--repository', REPOSITORY)).toEqual({ status: 2, err: expect.stringContaining('uncommitted changes') });
  });
});
