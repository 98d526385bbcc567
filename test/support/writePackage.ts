// Writes dist/, the program as a package has it: `npm pack` runs this first. Node strips the types, as it does in a
// checkout, one file to one, with lines and columns as in the sources. Module names end in .js, and comments are
// removed.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'oxc-parser';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const ENTRY = 'server/commands/cli.ts';
/** The relative name of a module: of an import, or of a thread's script. The file must exist. */
const MODULE = /(?<=(['"]))(?<path>\.{1,2}\/[^'"\n]+)\.ts(?=\1)/g;

/** A module without types and comments. Every thread would keep comments in memory with the rest of its text. */
function scriptOf(module: string): string {
  const source = readFileSync(ROOT + module, 'utf8');
  assert(!/[ \t]$/m.test(source), `${module}: blanks that end a line might be of a text`);
  const script = stripTypeScriptTypes(source);
  const parts: string[] = [];
  let end = 0;
  for (const comment of parseSync(module, script, { lang: 'js' }).comments) {
    parts.push(script.slice(end, comment.start), script.slice(comment.start, comment.end).replace(/[^\n]/g, ' '));
    end = comment.end;
  }
  return (parts.join('') + script.slice(end)).replace(/ +$/gm, '');
}

rmSync(`${ROOT}dist`, { recursive: true, force: true });
// A set iterates over elements that are added meanwhile: it ends with all that the entry reaches.
const modules = new Set([ENTRY]);
for (const module of modules) {
  const script = scriptOf(module);
  for (const { 0: named } of script.matchAll(MODULE)) modules.add(posix.join(posix.dirname(module), named));
  const output = `${ROOT}dist/${module.replace(/ts$/, 'js')}`;
  mkdirSync(dirname(output), { recursive: true });
  writeFileSync(output, script.replace(MODULE, '$<path>.js'));
}
