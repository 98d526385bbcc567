// `npm run release -- --repository URL [--output DIR]`: packs the last commit for a release. The output has the package
// with `repository`, `bugs` and `homepage`, an SBOM (CycloneDX), SHA-256 checksums, and the changelog section of the
// version as release notes. Needs no network. Refuses a checkout with uncommitted changes.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** An error that the user can fix. */
class UsageError extends Error {}

/** The section of a version in a changelog, without its heading. Throws UsageError if it is missing or has no date. */
function changelogSection(changelog: string, version: string): string {
  const heading = `## [${version}] - `;
  const [, rest] = changelog.split(`\n${heading}`);
  if (rest === undefined || !/^\d{4}-\d\d-\d\d\n/.test(rest)) {
    throw new UsageError(`CHANGELOG.md has no line "${heading}YYYY-MM-DD": add it`);
  }
  return `${rest.slice(rest.indexOf('\n')).split('\n## [')[0]!.trim()}\n`;
}

function release(): void {
  const { values } = parseArgs({ options: { repository: { type: 'string' }, output: { type: 'string' } } });
  const repository = values.repository?.replace(/\.git$/, '').replace(/\/$/, '') ?? '';
  if (!/^https:\/\/[^/\s]+(\/[^/\s]+)+$/.test(repository)) {
    throw new UsageError(
      '--repository URL is missing: the https address of the repository, such as https://host/owner/name',
    );
  }
  const git = (...words: string[]): Buffer => execFileSync('git', words, { cwd: ROOT, maxBuffer: 2 ** 28 });
  if (git('status', '--porcelain').length > 0) {
    throw new UsageError('the checkout has uncommitted changes: commit or stash them');
  }
  const output = resolve(values.output ?? join(ROOT, 'release'));
  const copy = mkdtempSync(join(tmpdir(), 'catalogue-release-'));
  try {
    execFileSync('tar', ['-x', '-C', copy], { input: git('archive', 'HEAD') });
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    const manifest = JSON.parse(readFileSync(join(copy, 'package.json'), 'utf8')) as { version: string };
    const addresses = {
      repository: { type: 'git', url: `git+${repository}.git` },
      bugs: `${repository}/issues`,
      homepage: `${repository}#readme`,
    };
    writeFileSync(join(copy, 'package.json'), `${JSON.stringify({ ...manifest, ...addresses }, null, 2)}\n`);
    const notes = changelogSection(readFileSync(join(copy, 'CHANGELOG.md'), 'utf8'), manifest.version);
    mkdirSync(output, { recursive: true });
    if (readdirSync(output).length > 0) throw new UsageError(`${output} is not empty: remove its files`);
    const npm = (...words: string[]): string =>
      execFileSync('npm', words, {
        cwd: copy,
        encoding: 'utf8',
        maxBuffer: 2 ** 28,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
    npm('pack', '--silent', '--pack-destination', output);
    const sbom = npm('sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--package-lock-only');
    writeFileSync(join(output, `catalogue-replica-${manifest.version}.cdx.json`), sbom);
    writeFileSync(join(output, 'RELEASE-NOTES.md'), notes);
    const sums = readdirSync(output).map((name) => {
      const sum = createHash('sha256')
        .update(readFileSync(join(output, name)))
        .digest('hex');
      return `${sum}  ${name}\n`;
    });
    writeFileSync(join(output, 'SHA256SUMS'), sums.join(''));
    process.stdout.write(`${output}: ${readdirSync(output).join(', ')}\n`);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

try {
  release();
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`release: ${error.message}\n`);
  process.exitCode = 2;
}
