#!/usr/bin/env node
// The command as npm installs it: plain JavaScript for any Node from 18 on. Runs the command line in this process if
// its Node is suitable, else on the Node that the installation contains, else prints one line about the required
// version. Only this file knows how a checkout and a package differ. It must use nothing newer than Node 18 and import
// only node: modules before it has checked the version.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Signals that a server handles later itself. They must not end the process, however early they arrive. */
const ORDERS = ['SIGHUP', 'SIGUSR2'];
const isServing = process.argv[2] === 'serve';
if (isServing) for (const signal of ORDERS) process.on(signal, () => undefined);

// Without a listener, SIGUSR1 makes Node open its inspector to every user of the machine. In processes started from
// here, a flag of Node (22.14) prevents that before their first line runs.
process.on('SIGUSR1', () => undefined);
const WITHOUT_INSPECTOR = '--disable-sigusr1';

// A checkout runs its sources, even if it has a dist/ folder. A package has no sources, because Node strips no types
// under node_modules: `npm pack` puts JavaScript into dist/, file for file (test/support/writePackage.ts).
const source = fileURLToPath(new URL('commands/cli.ts', import.meta.url));
const compiled = fileURLToPath(new URL('../dist/server/commands/cli.js', import.meta.url));
const cli = existsSync(source) ? source : compiled;

/** Whether a Node is suitable: it runs .ts files without a flag (22.18) and has binaries of uWebSockets.js (22). */
function isSuitable(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major === 22 && minor >= 18;
}

/** Whether this Node can run the program over node:http, without a binary of uWebSockets.js. Tests use each version. */
const isGoodEnough = /^2[46]\./.test(process.versions.node);

/** The path of the installed Node for this platform; undefined without one. */
function installedNode() {
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const names = [`node-${platform}-${process.arch}`, `node-bin-${platform}-${process.arch}`];
  const require = createRequire(import.meta.url);
  for (const name of names) {
    try {
      const manifestPath = require.resolve(`${name}/package.json`);
      const manifest = JSON.parse(readFileSync(manifestPath, 'utf8'));
      const bin = typeof manifest.bin === 'string' ? manifest.bin : manifest.bin.node;
      if (isSuitable(manifest.version)) return join(dirname(manifestPath), bin);
    } catch {
      // Not installed: try the next name, or print the message at the end.
    }
  }
  return undefined;
}

/** The commands that build snapshots, in threads that pass gigabytes of memory to each other. */
const isBuilding = ['import', 'follow'].includes(process.argv[2]);

/**
 * The environment of the program. A command that builds gets glibc settings unless the environment has some. All
 * threads share one arena, because free memory of a thread's separate arena is useless to the others. Large allocations
 * use huge pages, whose first touch costs a third. An import then takes 0.8 of the time (bench/FIGURES.md, Import and
 * load). Serving threads would wait for each other. glibc reads the settings once, before a program starts. The process
 * that refreshes a server's data has the same settings (process/followProcess.ts).
 */
const environment = isBuilding
  ? { GLIBC_TUNABLES: 'glibc.malloc.arena_max=1:glibc.malloc.hugetlb=1', ...process.env }
  : process.env;

/** Whether this process must restart with that environment, and can: a restart would lose a channel. */
function beginsAnew() {
  const isOther = environment.GLIBC_TUNABLES !== process.env.GLIBC_TUNABLES;
  return isOther && process.platform === 'linux' && !process.channel && process.execve !== undefined;
}

/** Runs the command line on the given Node, forwards signals, and exits like the child. */
function runOn(node) {
  // A separate process group, so that Ctrl-C reaches the child once, through this process. Twice would mean stopping at
  // once. The channel breaks when this process is gone, for whatever reason: the child then stops (signals.ts).
  const child = spawn(node, [WITHOUT_INSPECTOR, cli, ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    detached: process.platform !== 'win32',
    env: environment,
  });
  const passOn = (signals) => {
    for (const signal of signals) process.on(signal, () => child.kill(signal));
  };
  child.on('spawn', () => passOn(['SIGINT', 'SIGTERM']));
  // A server sends a message once it handles these signals (process/signals.ts).
  child.once(isServing ? 'message' : 'spawn', () => passOn(ORDERS));
  // For example, if the system has another libc.
  child.on('error', (error) => runHereOr(`${node} does not start (${error.message})`));
  child.on('exit', (code, signal) => {
    if (!signal) process.exit(code);
    // SIGUSR1 can end the process only before Node blocks it: start again.
    if (signal === 'SIGUSR1') return runOn(node);
    // Ends by the same signal, so that the parent process sees how the server ended. If the signal has no effect, as in
    // the first process of a container, uses the exit code of shells for it.
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
    setTimeout(() => process.exit(128 + constants.signals[signal]), 100);
  });
}

async function runHereOr(reason) {
  if (isGoodEnough) return import(pathToFileURL(cli).href);
  process.stderr.write(
    `catalogue-replica: ${reason}; wanted is Node 22.18 or a later 22, 24 or 26: run npm install without --omit=optional ` +
      'in its folder, or install Node 22 from https://nodejs.org\n',
  );
  process.exitCode = 1;
}

if (isSuitable(process.versions.node)) {
  if (beginsAnew()) {
    const { execPath, execArgv, argv } = process;
    process.execve(execPath, [execPath, WITHOUT_INSPECTOR, ...execArgv, ...argv.slice(1)], environment);
  }
  await import(pathToFileURL(cli).href);
} else {
  const node = installedNode();
  if (node) runOn(node);
  else await runHereOr(`this is Node ${process.versions.node}`);
}
