// Keeps the program's TypeScript as JavaScript for later starts: strips the types of every file that is not kept as it is now.
// A thread of its own, started by keptProgram.js once the start is over. Writes to one directory; ends with an error where
// it cannot, which leaves later starts as they are.
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import os from 'node:os';
import { KEPT_DIRECTORY, keptFile, keptSource, markOf } from './keptProgram.js';

/** The folders of the program, beside the one of this file. */
const FOLDERS = ['data', 'engine', 'server', 'workers'];

/** Requests go first. */
const NICENESS = 19;

function modulesOf(folder) {
  const directory = new URL(`../${folder}/`, import.meta.url);
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  const sources = names.filter((name) => /(?<!\.d)\.ts$/.test(name));
  return sources.map((name) => new URL(name.replaceAll('\\', '/'), directory).href);
}

/** Moved into its place when it is whole: another process may read it meanwhile, or keep the same. */
function keep(url) {
  const source = readFileSync(new URL(url));
  if (keptSource(url, source) !== undefined) return;
  const unfinished = new URL(`${keptFile(url).href}.${process.pid}`);
  writeFileSync(unfinished, stripTypeScriptTypes(source.toString()) + markOf(source));
  renameSync(unfinished, keptFile(url));
}

// Linux gives each thread a priority of its own; elsewhere this would be that of the whole process.
if (os.platform() === 'linux') os.setPriority(NICENESS);
mkdirSync(KEPT_DIRECTORY, { recursive: true });
for (const url of FOLDERS.flatMap(modulesOf)) keep(url);
