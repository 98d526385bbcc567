// The deployment files are accepted by the programs that read them, and the settings, metrics and files that they name
// exist. proxies.long.test.ts covers the proxies in operation, refresh.long.test.ts covers refresh.sh.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LAUNCHER_FILE } from '../../bench/processes/processes.ts';
import { runServer, type Server } from '../support/commandProcess.ts';
import { settingsTable } from '../support/documentTables.ts';
import { temporaryDirectory } from '../support/dataSets.ts';
import { hasProgram } from '../support/debian.ts';
import { sampleSnapshot } from '../support/sampleSnapshot.ts';
import { readProjectFile, ROOT } from '../support/sources.ts';

const DEPLOY = join(ROOT, 'deploy');
const FILES = readdirSync(DEPLOY);
const textOf = (name: string): string => readFileSync(join(DEPLOY, name), 'utf8');
const ALERTS = [...textOf('alerts.yml').matchAll(/- alert: (\w+)/g)].map(([, name]) => name!);
const TEXT = { encoding: 'utf8' } as const;
const folder = temporaryDirectory();

describe('the alerts', () => {
  test.skipIf(!hasProgram('promtool'))('are rules of Prometheus, and pass their unit tests', () => {
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', join(DEPLOY, 'alerts.test.yml')], TEXT);
    expect([status, `${stdout}${stderr}`]).toEqual([0, expect.stringContaining('SUCCESS')]);
    const config = spawnSync('promtool', ['check', 'config', join(DEPLOY, 'prometheus.yml')], TEXT);
    expect([config.status, config.stderr]).toEqual([0, '']);
  });

  test('each have a unit test that raises them and one that does not, and a row in the runbook', () => {
    const tests = textOf('alerts.test.yml');
    for (const alert of ALERTS) {
      expect(tests).toMatch(new RegExp(`alertname: ${alert}, exp_alerts: \\[\\]`));
      expect(tests).toMatch(new RegExp(`alertname: ${alert}\\n +exp_alerts:\\n +- exp_labels:`));
    }
    const rows = [...textOf('README.md').matchAll(/^\| `(Catalogue\w+)`/gm)].map(([, name]) => name);
    expect(rows).toEqual(ALERTS);
  });
});

test('use metrics that the dashboard shows', () => {
  const named = [...textOf('alerts.yml').matchAll(/catalogue_replica_\w+/g)].map(([name]) => name);
  // The dashboard does not show the timestamps of past events: they only end an alert.
  const shown = named.filter((name) => !/_(?:reload|success)_timestamp_seconds$/.test(name));
  expect(shown.length).toBeGreaterThan(10);
  expect(shown.filter((name) => !textOf('dashboard.json').includes(name))).toEqual([]);
});

interface Panel {
  readonly type: string;
  readonly description: string;
  readonly gridPos: { readonly y: number };
  readonly fieldConfig: { readonly defaults: { readonly thresholds: { readonly steps: readonly object[] } } };
  readonly targets: readonly { readonly expr: string }[];
}

/**
 * The thresholds of a panel for an alert such as `time() - x > 2 * 86400`; Grafana's last step that is reached counts.
 */
function stepsOf(expression: string): readonly object[] {
  const [, sign, text = ''] = /(>|==) ([\d.]+(?: \* [\d.]+)?)(?=$| unless)/.exec(expression.trim())!;
  const limit = text.split(' * ').reduce((product, factor) => product * Number(factor), 1);
  const colours = sign === '==' ? ['red', 'green'] : ['green', 'red'];
  const [below, above] = colours.map((color) => ({ color }));
  return [
    { ...below, value: null },
    { ...above, value: sign === '==' ? limit + 1 : limit },
  ];
}

test('have the thresholds of the stat panels in the first row of the dashboard', () => {
  const { panels } = JSON.parse(textOf('dashboard.json')) as { readonly panels: readonly Panel[] };
  const { groups } = parse(textOf('alerts.yml')) as {
    readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
  };
  const stats = panels.filter(({ gridPos }) => gridPos.y === 0);
  expect(stats.length).toBeGreaterThan(5);
  for (const { type, description, fieldConfig, targets } of stats) {
    const alert = /Catalogue\w+/.exec(description)![0];
    const { expr } = groups.flatMap(({ rules }) => rules).find((rule) => rule.alert === alert)!;
    expect([alert, type, fieldConfig.defaults.thresholds.steps]).toEqual([alert, 'stat', stepsOf(expr)]);
    for (const [metric] of targets[0]!.expr.matchAll(/catalogue_replica_\w+/g)) expect(expr).toContain(metric);
  }
});

test('are next to a heat map of response times and marks of new generations', () => {
  const { panels, annotations } = JSON.parse(textOf('dashboard.json')) as {
    readonly panels: readonly Panel[];
    readonly annotations: { readonly list: readonly { readonly expr: string }[] };
  };
  const heatMap = panels.find(({ type }) => type === 'heatmap')!;
  expect(heatMap.targets[0]!.expr).toContain('catalogue_replica_answer_seconds_bucket');
  expect(annotations.list[0]!.expr).toContain('catalogue_replica_data_info');
});

describe('a server', () => {
  let server: Server;
  beforeAll(
    async () =>
      void (server = await runServer([
        '--gzip',
        'live',
        '--admin-port',
        '0',
        '--threads',
        '1',
        '--data',
        await sampleSnapshot(),
      ])),
  );
  afterAll(() => server.kill());

  test('has all metrics that alerts, dashboard and runbook name', async () => {
    const text = await (await fetch(`${server.adminUrl}/metrics`)).text();
    const told = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!));
    for (const file of ['alerts.yml', 'alerts.test.yml', 'dashboard.json', 'README.md']) {
      const named = [...textOf(file).matchAll(/catalogue_replica_\w+[a-z]\b/g)].map(([name]) => name);
      expect(
        named.filter((name) => !told.has(name.replace(/_bucket$/, ''))),
        file,
      ).toEqual([]);
    }
  });
});

test.skipIf(!hasProgram('systemd-analyze')).each(['catalogue@.service', 'catalogue-follow.service'])(
  '%s: passes systemd-analyze verify, with the drop-in too',
  (name) => {
    // This machine does not have the program at the path of the unit, so another program replaces it.
    const text = textOf(name)
      .replace('/opt/catalogue/node_modules/.bin/catalogue-replica', '/bin/true')
      .replace('/usr/bin/curl', '/bin/true');
    const [unit, dropIns] = [join(folder, name), join(folder, `${name}.d`)];
    const verified = (): string => {
      const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', unit.replace('@', '@1')], TEXT);
      return `${stdout}${stderr}`;
    };
    writeFileSync(unit, text.replace('ProtectSystem=', 'ProtectSistem='));
    expect(verified()).toContain('ProtectSistem');
    writeFileSync(unit, text);
    expect(verified()).toBe('');
    mkdirSync(dropIns);
    writeFileSync(join(dropIns, 'authority.conf'), textOf('authority.conf'));
    expect(verified()).toBe('');
  },
);

test('names only existing settings in the deployment files', () => {
  const declared = settingsTable();
  for (const file of FILES.filter((name) => statSync(join(DEPLOY, name)).isFile())) {
    const text = textOf(file);
    const environment = [...text.matchAll(/\bCATALOGUE_[A-Z0-9_]+/g)].map(([name]) => name);
    for (const name of environment) if (name !== 'CATALOGUE_REPLICA') expect(declared, file).toContain(`\`${name}\``);
  }
  const [, flags = ''] = /^ExecStart=\S+ serve(.*)$/m.exec(textOf('catalogue@.service')) ?? [];
  for (const [flag] of flags.matchAll(/--[a-z0-9-]+/g))
    if (flag !== '--config') expect(declared).toContain(`\`${flag} <`);
  const { stdout } = spawnSync(process.execPath, [LAUNCHER_FILE, 'follow', '--help'], TEXT);
  const [, words = ''] = /^ExecStart=\S+ follow(.*)$/m.exec(textOf('catalogue-follow.service')) ?? [];
  for (const [flag] of words.matchAll(/--[a-z0-9-]+/g)) expect(stdout).toContain(`${flag} <`);
  for (const [, key] of textOf('catalogue.toml').matchAll(/^(\w+) =/gm)) expect(declared).toContain(`\`${key}\``);
});

test('mentions every deployment file in the runbook and includes it in the package', () => {
  for (const file of FILES) if (file !== 'README.md') expect(textOf('README.md')).toContain(`\`${file}\``);
  expect(JSON.parse(readProjectFile('package.json'))).toMatchObject({ files: expect.arrayContaining(['deploy']) });
  expect(textOf('kubernetes.yaml')).toContain('/opt/catalogue/deploy/refresh.sh');
});
