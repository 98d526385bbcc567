// The table `namespaces` of a configuration: which names each CA may speak for. Checks the form, and says what an
// operator should know of it. Reads no file.
import { type Certificate, shownSubject } from '../x509/certificate.ts';
import { nameOrderKey, nameOrderKeyOfText, nameTextOfText, unknownTypesOf } from '../x509/name.ts';
import type { Namespaces } from '../x509/namespaces.ts';
import type { TomlDocument } from '../../settings/toml.ts';
import type { Mistakes } from './mistakes.ts';
import { personProblem } from './names.ts';

/** The namespaces of a configuration, and of each CA in them how it is written; undefined where every CA has all. */
export interface ReadNamespaces {
  readonly patterns: Namespaces;
  readonly written: ReadonlyMap<string, string>;
}

/** CAs and their patterns in all (A107): users are looked for in each. */
const PATTERNS_MAX = 2048;

/** Reads the table: a CA's name is the key, a pattern or an array of them the value. Undefined without the table. */
export function readNamespaces(
  table: unknown,
  { placeOf, mistakes }: Pick<TomlDocument, 'placeOf'> & { readonly mistakes: Mistakes },
): ReadNamespaces | undefined {
  if (table === undefined) return undefined;
  const patterns = new Map<string, readonly string[]>();
  const written = new Map<string, string>();
  if (typeof table !== 'object' || table === null || Array.isArray(table)) {
    mistakes.add(placeOf(['namespaces']), 'namespaces: want a table, "/O=Site/CN=CA" = ["/O=Site/*"]');
    return { patterns, written };
  }
  let count = 0;
  for (const [name, value] of Object.entries(table)) {
    const complain = (message: string): void => mistakes.add(placeOf(['namespaces', name]), message);
    const ca = JSON.stringify(name);
    const problem = personProblem(name);
    if (problem !== undefined) complain(`the CA ${ca} ${problem}`);
    const key = nameOrderKeyOfText(name) ?? name;
    if (patterns.has(key)) complain(`the namespaces of ${ca} are there twice`);
    const texts: readonly unknown[] = Array.isArray(value) ? value : [value];
    count += 1 + texts.length;
    if (count > PATTERNS_MAX) {
      complain(`namespaces: more than ${PATTERNS_MAX} CAs and patterns`);
      break;
    }
    patterns.set(
      key,
      texts.map((text) => patternOf(text, (message) => complain(`the namespaces of ${ca}: ${message}`))),
    );
    written.set(key, name);
  }
  return { patterns, written };
}

/** The pattern with its types as names have them. */
function patternOf(text: unknown, complain: (message: string) => void): string {
  const pattern = typeof text === 'string' ? nameTextOfText(text) : undefined;
  if (text === '*') return text;
  if (pattern === undefined) complain(`got ${JSON.stringify(text)}, want patterns such as "/O=Site/*"`);
  const [unknown] = pattern === undefined ? [] : unknownTypesOf(String(text));
  if (unknown !== undefined) complain(`${JSON.stringify(text)}: there is no type ${unknown} of names`);
  return pattern ?? '';
}

/** What an operator should know: which configured CAs may speak for nobody, which namespaces are of none of them. */
export function namespaceNotes(
  namespaces: ReadNamespaces | undefined,
  anchors: readonly Certificate[],
): readonly string[] {
  if (namespaces === undefined) return [];
  const keys = new Set(anchors.map(({ subject }) => nameOrderKey(subject)));
  const missing = anchors.filter(({ subject }) => (namespaces.patterns.get(nameOrderKey(subject)) ?? []).length === 0);
  const others = [...namespaces.written].filter(([key]) => !keys.has(key));
  return [
    ...missing.map((anchor) => `the CA ${shownSubject(anchor)} has no namespaces: nobody whom it certified gets in`),
    ...others.map(
      ([, name]) => `the namespaces of ${JSON.stringify(name)} are of no configured CA, but of one below them`,
    ),
  ];
}
