#!/usr/bin/env node
// The command as npm installs it: plain JavaScript that any Node from 18 on can read. Runs the command line in this
// process when its Node is the right one, else on the Node that the install brought, else says in one line what is
// wanted. The one place that knows how a checkout and a package differ in what they run.
// Must not use anything newer than Node 18 nor import anything but node: modules before it knows which Node this is.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Signals that are orders to a server, and end none, however early they come: it hears them itself a little later. */
const ORDERS = ['SIGHUP', 'SIGUSR2'];
const isServing = process.argv[2] === 'serve';
if (isServing) for (const signal of ORDERS) process.on(signal, () => undefined);

// Without a listener, Node opens its inspector on SIGUSR1, to every user of the machine. In processes that start from
// here a flag of Node (22.14) prevents that before their first line runs.
process.on('SIGUSR1', () => undefined);
const WITHOUT_INSPECTOR = '--disable-sigusr1';

// A checkout runs its sources, whatever lies in its dist/. A package has no sources: Node strips no types under
// node_modules, so `npm pack` puts JavaScript into dist/ (test/support/writePackage.ts), file for file.
const source = fileURLToPath(new URL('commands/cli.ts', import.meta.url));
const compiled = fileURLToPath(new URL('../dist/server/commands/cli.js', import.meta.url));
const cli = existsSync(source) ? source : compiled;

/** Whether a Node runs the program as it should: .ts files without a flag (22.18), binaries of uWebSockets.js (22). */
function isSuitable(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major === 22 && minor >= 18;
}

/** Whether this Node runs the program over node:http: uWebSockets.js has no binary for it. Tests use each version. */
const isGoodEnough = /^2[46]\./.test(process.versions.node);

/** The path of the Node that the install brought for this platform, or undefined without one. */
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
      // Not installed: the next name, or the message at the end.
    }
  }
  return undefined;
}

/** The commands that build snapshots, in threads that hand each other gigabytes of memory. */
const isBuilding = ['import', 'follow'].includes(process.argv[2]);

/**
 * The environment of the program. Where it builds, with how glibc is to hand out memory, unless that is said already:
 * all threads from one arena, since by itself each has one whose free memory no other uses, and large memory in huge
 * pages, whose first touch costs a third. An import takes 0.8 of the time (bench/FIGURES.md, Import
 * and load); threads that serve would wait for each other. glibc reads it once, before a program starts. The
 * process by which a server refreshes has the same (process/followProcess.ts).
 */
const environment = isBuilding
  ? { GLIBC_TUNABLES: 'glibc.malloc.arena_max=1:glibc.malloc.hugetlb=1', ...process.env }
  : process.env;

/** Whether this process has to begin anew with that environment, and can: one with a channel would lose it. */
function beginsAnew() {
  const isOther = environment.GLIBC_TUNABLES !== process.env.GLIBC_TUNABLES;
  return isOther && process.platform === 'linux' && !process.channel && process.execve !== undefined;
}

/** Runs the command line on the given Node, passes signals on, and ends as it ends. */
function runOn(node) {
  // In a process group of its own, so that Ctrl-C reaches it once, through us, and not twice: twice means at once. With
  // a channel, which breaks when we are gone, however that came: it ends by itself then (signals.ts).
  const child = spawn(node, [WITHOUT_INSPECTOR, cli, ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    detached: process.platform !== 'win32',
    env: environment,
  });
  const passOn = (signals) => {
    for (const signal of signals) process.on(signal, () => child.kill(signal));
  };
  child.on('spawn', () => passOn(['SIGINT', 'SIGTERM']));
  // A server says so once it hears orders (process/signals.ts).
  child.once(isServing ? 'message' : 'spawn', () => passOn(ORDERS));
  // As where its libc is another one.
  child.on('error', (error) => runHereOr(`${node} does not start (${error.message})`));
  child.on('exit', (code, signal) => {
    if (!signal) process.exit(code);
    // Only before Node runs, which blocks SIGUSR1, can that end the process: start it again.
    if (signal === 'SIGUSR1') return runOn(node);
    // By the same signal: whoever started us sees how the server ended. Where that ends nothing, as in a container's
    // first process, by what shells say of it.
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
