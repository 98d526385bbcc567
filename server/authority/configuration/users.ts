// The users of a configuration, and which names of sites, roles and users are valid (authority design:
// getTrustedHostInfo).
import { nameSetKeyOfText } from '../x509/name.ts';
import { nameKeysUnder, type Namespaces } from '../x509/nameConstraints.ts';
import { type Place, placeText, type TomlDocument } from '../../settings/toml.ts';
import { FILE_BYTES_MAX, type Mistakes, readText } from './files.ts';

/** Neither prints, and XML allows neither everywhere. */
const CONTROL = /[\p{Cc}\ufffe\uffff]/u;

/** What is wrong with the name of a site, or undefined: a colon would end it in the strings of getTrustedHostInfo. */
export function siteNameProblem(name: string): string | undefined {
  if (name.includes(':')) return 'has a colon';
  return textProblem(name);
}

/** What is wrong with the name of a role, or undefined: colons and commas part the strings of getTrustedHostInfo. */
export function roleProblem(role: string): string | undefined {
  if (/[:,]/.test(role)) return 'has a colon or comma';
  return textProblem(role);
}

export function personProblem(name: string): string | undefined {
  if (CONTROL.test(name)) return 'has a control character';
  return nameSetKeyOfText(name) === undefined ? 'is not of the form /TYPE=value/TYPE=value' : undefined;
}

function textProblem(text: string): string | undefined {
  if (text === '') return 'is empty';
  if (text.trim() !== text) return 'has blanks at its ends';
  if (CONTROL.test(text) || !text.isWellFormed()) return 'has a control character';
  return undefined;
}

/** A user by the key of the name (see NameKeys), and the roles in their order, without duplicates. */
interface UserRoles {
  readonly key: string;
  readonly roles: readonly string[];
}

const LINE_CHARACTERS_MAX = 65_536;

export class UserList {
  readonly users: UserRoles[] = [];
  readonly #places = new Map<string, Place>();
  readonly #mistakes: Mistakes;
  readonly #namespaces: Namespaces | undefined;

  constructor(mistakes: Mistakes, namespaces: Namespaces | undefined) {
    this.#mistakes = mistakes;
    this.#namespaces = namespaces;
  }

  add(name: string, roles: readonly string[], place: Place): void {
    const key = this.#keyOf(name, place);
    for (const role of roles) {
      const problem = roleProblem(role);
      if (problem !== undefined) this.#complain(place, `the role ${JSON.stringify(role)} ${problem}`);
    }
    if (roles.length === 0) this.#complain(place, `the user ${JSON.stringify(name)} has no roles`);
    if (key !== undefined) this.users.push({ key, roles: [...new Set(roles)] });
  }

  #keyOf(name: string, place: Place): string | undefined {
    const problem = personProblem(name);
    if (problem !== undefined) {
      this.#complain(place, `the user ${JSON.stringify(name)} ${problem}`);
      return undefined;
    }
    const key = nameKeysUnder(this.#namespaces).ofText(name)!;
    const earlier = this.#places.get(key);
    if (earlier) this.#complain(place, `the user ${JSON.stringify(name)} is also at ${placeText(earlier)}`);
    else this.#places.set(key, place);
    return key;
  }

  #complain(place: Place, message: string): void {
    this.#mistakes.add(place, message);
  }
}

/** `"name" role, role`; a quote or backslash in the name has a backslash before it. */
const USER_LINE = /^"((?:[^"\\]|\\["\\])+)"[ \t]+([^ \t].*)$/s;

/** Adds the users of a file in UTF-8, one a line as in grid map files (A87). Lines that begin with `#` are ignored. */
export function addUsersOfFile(path: string, place: Place, list: UserList, mistakes: Mistakes): void {
  const text = readText(path, FILE_BYTES_MAX.users, place, mistakes) ?? '';
  // One after the other: an array of millions of lines would take more than the file.
  for (let [at, number] = [0, 1]; at < text.length; number++) {
    const end = text.indexOf('\n', at);
    const line = text.slice(at, end < 0 ? undefined : end).trim();
    at = end < 0 ? text.length : end + 1;
    if (line === '' || line.startsWith('#')) continue;
    const match = line.length > LINE_CHARACTERS_MAX ? null : USER_LINE.exec(line);
    if (match) {
      const roles = match[2]!.split(',').map((role) => role.trim());
      list.add(match[1]!.replace(/\\(.)/g, '$1'), roles, { file: path, line: number });
    } else mistakes.add({ file: path, line: number }, 'is no user; want "/O=Site/CN=Name" role, role');
  }
}

/** Adds the users of the table `users` of a configuration: the name is the key, an array of roles the value. */
export function addUsersOfTable(
  table: unknown,
  { placeOf, list, mistakes }: Pick<TomlDocument, 'placeOf'> & { list: UserList; mistakes: Mistakes },
): void {
  if (table === undefined) return;
  if (typeof table !== 'object' || table === null || Array.isArray(table)) {
    return mistakes.add(placeOf(['users']), 'users: want a table, "/O=Site/CN=Name" = ["role"]');
  }
  for (const [name, roles] of Object.entries(table)) {
    const place = placeOf(['users', name]);
    if (Array.isArray(roles) && roles.every((role) => typeof role === 'string')) list.add(name, roles, place);
    else mistakes.add(place, `the roles of ${JSON.stringify(name)}: want an array of strings`);
  }
}
