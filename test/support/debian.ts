// Programs and libraries from Debian packages that some tests drive. A test is skipped if its program is not installed,
// and one line at the end of the run reports that. Nothing is installed here: .ci/run installs the same packages
// (DEBIAN_PACKAGES).
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { missingPackages } from './ownPackages.ts';
import { missingSuites } from './testdata.ts';

/** The programs that tests use, with the Debian package of each. */
export const PROGRAMS = {
  apache2: 'apache2-bin',
  bindfs: 'bindfs',
  chromium: 'chromium',
  curl: 'curl',
  fincore: 'util-linux-extra',
  'g++': 'g++',
  gunicorn: 'gunicorn',
  gzip: 'gzip',
  haproxy: 'haproxy',
  ip: 'iproute2',
  javac: 'default-jdk-headless',
  'libdeflate-gunzip': 'libdeflate-tools',
  'nats-server': 'nats-server',
  nginx: 'nginx-light',
  ogrinfo: 'gdal-bin',
  nsenter: 'util-linux',
  openssl: 'openssl',
  pgrep: 'procps',
  php: 'php-cli',
  prlimit: 'util-linux',
  promtool: 'prometheus',
  python3: 'python3',
  Rscript: 'r-base-core',
  script: 'bsdutils',
  'systemd-analyze': 'systemd',
  'swift-account-server': 'swift-account',
  'swift-container-server': 'swift-container',
  'swift-object-server': 'swift-object',
  'swift-proxy-server': 'swift-proxy',
  tinyproxy: 'tinyproxy',
  varnishd: 'varnish',
  wsdl2h: 'gsoap',
  xmllint: 'libxml2-utils',
  xmlsec1: 'xmlsec1',
} as const;

/** Packages without a program, each with a file that only it installs. */
export const LIBRARIES = {
  'libaxis-java': '/usr/share/java/axis.jar',
  'libgsoap-dev': '/usr/include/stdsoap2.h',
  'libsoap-lite-perl': '/usr/share/perl5/SOAP/Lite.pm',
  'libwww-perl': '/usr/share/perl5/LWP.pm',
  'php-soap': '/var/lib/dpkg/info/php-soap.list',
  'python3-aiohttp': '/usr/lib/python3/dist-packages/aiohttp/__init__.py',
  'python3-bibtexparser': '/usr/lib/python3/dist-packages/bibtexparser/__init__.py',
  'python3-django': '/usr/lib/python3/dist-packages/django/__init__.py',
  'python3-django-filters': '/usr/lib/python3/dist-packages/django_filters/__init__.py',
  'python3-djangorestframework': '/usr/lib/python3/dist-packages/rest_framework/__init__.py',
  'python3-fsspec': '/usr/lib/python3/dist-packages/fsspec/__init__.py',
  'python3-httpx': '/usr/lib/python3/dist-packages/httpx/__init__.py',
  'python3-pandas': '/usr/lib/python3/dist-packages/pandas/__init__.py',
  'python3-requests': '/usr/lib/python3/dist-packages/requests/__init__.py',
  'python3-zeep': '/usr/lib/python3/dist-packages/zeep/__init__.py',
  'r-cran-jsonlite': '/usr/lib/R/site-library/jsonlite/DESCRIPTION',
} as const;

export type Program = keyof typeof PROGRAMS;

/** A library that a test uses, by its package. */
export type Library = keyof typeof LIBRARIES;

/** Whether a program is on the PATH, for `test.skipIf(!hasProgram('curl'))`. Checks the file system in each call. */
export function hasProgram(name: Program, path = process.env['PATH'] ?? ''): boolean {
  return path.split(delimiter).some((directory) => {
    try {
      accessSync(join(directory, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

export function hasLibrary(name: Library): boolean {
  return existsSync(LIBRARIES[name]);
}

/** The line that reports missing programs and libraries; undefined if none is missing. */
export function skippedLine(missing: readonly (Program | Library)[]): string | undefined {
  if (missing.length === 0) return undefined;
  const packages = new Set(missing.map((name) => (name in PROGRAMS ? PROGRAMS[name as Program] : name)));
  return `Skipped the tests that drive ${missing.join(', ')} (not installed; on Debian: apt-get install ${[...packages].join(' ')})`;
}

/** A vitest reporter that prints the missing programs, packages and suites at the end of a run. */
export class SkippedTests {
  onTestRunEnd(): void {
    const programs = (Object.keys(PROGRAMS) as Program[]).filter((name) => !hasProgram(name));
    const libraries = (Object.keys(LIBRARIES) as Library[]).filter((name) => !hasLibrary(name));
    for (const line of [skippedLine([...programs, ...libraries]), missingPackages(), missingSuites()])
      if (line !== undefined) process.stdout.write(`${line}\n`);
  }
}
