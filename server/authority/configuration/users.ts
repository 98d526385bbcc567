// The users of a site and their roles: from the file of users, a line each, and from the table of the configuration.
// A user who is named twice, with whatever roles, is a mistake.
import { nameKeysUnder, type Namespaces } from '../x509/namespaces.ts';
import { type Place, placeText, type TomlDocument } from '../../settings/toml.ts';
import { FILE_BYTES_MAX, readText } from './files.ts';
import type { Mistakes } from './mistakes.ts';
import { personDoubt, personProblem, roleProblem } from './names.ts';

/** A user by the key of the name (see NameKeys), and the roles in their order, without duplicates. */
export interface UserRoles {
  readonly key: string;
  readonly roles: readonly string[];
}

/** More say nothing new. */
const NOTES_MAX = 10;
/** Longer lines are no users. */
const LINE_CHARACTERS_MAX = 65_536;
/** So many users are looked for in the namespaces: there may be a thousand patterns. */
const LOOKED_FOR_MAX = 10_000;

/** Gathers users from several sources. */
export class UserList {
  readonly users: UserRoles[] = [];
  /** What an operator should know of them: of many alike the first. */
  readonly notes: string[] = [];
  /** Where each user was first named. */
  readonly #places = new Map<string, Place>();
  readonly #mistakes: Mistakes;
  readonly #namespaces: Namespaces | undefined;

  constructor(mistakes: Mistakes, namespaces: Namespaces | undefined) {
    this.#mistakes = mistakes;
    this.#namespaces = namespaces;
  }

  /** Adds a user, or the mistakes about it. */
  add(name: string, roles: readonly string[], place: Place): void {
    const key = this.#keyOf(name, place);
    for (const role of roles) {
      const problem = roleProblem(role);
      if (problem !== undefined) this.#complain(place, `the role ${JSON.stringify(role)} ${problem}`);
    }
    if (roles.length === 0) this.#complain(place, `the user ${JSON.stringify(name)} has no roles`);
    if (key !== undefined) this.users.push({ key, roles: [...new Set(roles)] });
    if (key === undefined || this.notes.length === NOTES_MAX) return;
    this.#note(name, personDoubt(name, this.users.length > LOOKED_FOR_MAX ? undefined : this.#namespaces));
    const commented = roles.find((role) => / #/.test(role));
    this.#note(name, commented && `has the role ${JSON.stringify(commented)}: a comment has a line of its own`);
  }

  #note(name: string, doubt: string | undefined): void {
    if (doubt === undefined || this.notes.length === NOTES_MAX) return;
    this.notes.push(`the user ${JSON.stringify(name)} ${doubt}`);
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

/**
 * Adds the users of a file: a line each, in UTF-8, the name in quotes and the roles behind it, separated by commas, as
 * grid map files have it (A87); empty lines and those that begin with `#` are ignored.
 */
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
