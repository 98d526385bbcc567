// The users of a configuration, and the rules for names of sites, roles and users (authority design:
// getTrustedHostInfo).
import { setKeyFromText } from '../x509/name.ts';
import { nameKeysUnder, type Namespaces } from '../x509/nameConstraints.ts';
import { type Place, placeText, type TomlDocument } from '../../settings/toml.ts';
import { FILE_BYTES_MAX, type Mistakes, readText } from './files.ts';

/** These characters are unprintable, and XML restricts them. */
const CONTROL = /[\p{Cc}\ufffe\uffff]/u;

/** Why a site name is invalid; undefined if it is valid. A colon would end it in the strings of getTrustedHostInfo. */
export function siteNameProblem(name: string): string | undefined {
  if (name.includes(':')) return 'has a colon';
  return textProblem(name);
}

/** Why a role name is invalid; undefined if it is valid. Colons and commas are separators in getTrustedHostInfo. */
export function roleProblem(role: string): string | undefined {
  if (/[:,]/.test(role)) return 'has a colon or comma';
  return textProblem(role);
}

export function personProblem(name: string): string | undefined {
  if (CONTROL.test(name)) return 'has a control character';
  return setKeyFromText(name) === undefined ? 'is not of the form /TYPE=value/TYPE=value' : undefined;
}

function textProblem(text: string): string | undefined {
  if (text === '') return 'is empty';
  if (text.trim() !== text) return 'has blanks at its ends';
  if (CONTROL.test(text) || !text.isWellFormed()) return 'has a control character';
  return undefined;
}

interface UserRoles {
  /** The key of the name (see NameKeys). */
  readonly key: string;
  /** In the given order, without duplicates. */
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
    const key = this.#readKey(name, place);
    for (const role of roles) {
      const problem = roleProblem(role);
      if (problem !== undefined) this.#complain(place, `the role ${JSON.stringify(role)} ${problem}`);
    }
    if (roles.length === 0) this.#complain(place, `the user ${JSON.stringify(name)} has no roles`);
    if (key !== undefined) this.users.push({ key, roles: [...new Set(roles)] });
  }

  #readKey(name: string, place: Place): string | undefined {
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

/** `"name" role, role`. A quote or backslash in the name is escaped by a backslash. */
const USER_LINE = /^"((?:[^"\\]|\\["\\])+)"[ \t]+([^ \t].*)$/s;

/** Adds the users of a UTF-8 file, one per line as in grid map files (A87). Ignores lines that begin with `#`. */
export function addUsersFromFile(path: string, place: Place, list: UserList, mistakes: Mistakes): void {
  const text = readText(path, FILE_BYTES_MAX.users, place, mistakes) ?? '';
  // Line by line: an array of millions of lines would take more memory than the file.
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

/** Adds the users of the table `users`: the key is the name, the value an array of roles. */
export function addUsersFromTable(
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
