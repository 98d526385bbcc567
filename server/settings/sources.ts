// Reads settings from flags, environment, a TOML file and defaults, in this order of precedence. Generic:
// declarations.ts has the table of settings. Reads no file except the TOML file.
import { dirname, resolve } from 'node:path';
import { closestName } from '../../engine/shared.ts';
import { NO_FILE, readAtMost } from '../../data/files.ts';
import { OperationError, reasonOf } from '../../data/operationError.ts';
import { placeText, readToml, type TomlDocument, type TomlPath } from './toml.ts';
import { PATH, type ValueKind } from './values.ts';

/** One row of the table. Flag and environment variable derive from the name. */
export interface Setting<V> {
  /** The TOML key. */
  readonly name: string;
  readonly kind: ValueKind<unknown>;
  /** `many` may be given repeatedly. */
  readonly arity: 'one' | 'many';
  readonly help: string;
  /** The heading in the help of `serve`. */
  readonly group: SettingGroup;
  /** The default as shown in help. */
  readonly initialText: string;
  /** The default. */
  readonly initial: V;
  /** The setting's value for the given values: the last one, or all of them. */
  gather(values: readonly unknown[]): V;
}

type SettingGroup = 'Data' | 'Addresses' | 'Following' | 'Targets' | 'Limits' | 'Authority' | 'Operation';

/** A setting that is named by its key in the table unless it has a name. */
type Unnamed<V> = Omit<Setting<V>, 'name' | 'group'> & Words;

interface Words {
  readonly name?: string;
  readonly help: string;
  /** Needed if the value alone is not clear. */
  readonly initialText?: string;
}

export function one<V extends string | number | boolean, I extends V | undefined>(
  kind: ValueKind<V>,
  initial: I,
  words: Words,
): Unnamed<V | I> {
  // `kind.parse` made every value, so it is a V.
  const gather = (values: readonly unknown[]): V => values.at(-1) as V;
  return { kind, arity: 'one', initialText: initialTextOf(initial), ...words, initial, gather };
}

export function many<V>(kind: ValueKind<V>, words: Words): Unnamed<readonly V[]> {
  const gather = (values: readonly unknown[]): readonly V[] => [...new Set(values as readonly V[])];
  return { kind, arity: 'many', initialText: 'none', ...words, initial: [], gather };
}

function initialTextOf(initial: string | number | boolean | undefined): string {
  if (typeof initial === 'boolean') return initial ? 'on' : 'off';
  return initial === undefined ? 'off' : String(initial);
}

/** Adds the group and a name to each row: its explicit name, or its key. */
export function named<T extends Readonly<Record<string, Unnamed<unknown>>>>(group: SettingGroup, rows: T): Named<T> {
  const entries = Object.entries(rows).map(([key, row]) => [key, { name: key, group, ...row }]);
  return Object.fromEntries(entries) as Named<T>;
}

type Named<T> = { readonly [K in keyof T]: T[K] & Pick<Setting<unknown>, 'name' | 'group'> };

export type ValuesOf<T extends Readonly<Record<string, Unnamed<unknown>>>> = {
  readonly [K in keyof T]: T[K]['initial'];
};

/** The command line by setting name: a text, several, or true and false for a switch. */
export type Flags = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
export type Environment = Readonly<Record<string, string | undefined>>;

/** The table of settings, the setting that names the TOML file, and the other two sources. */
export interface Sources {
  readonly declarations: Readonly<Record<string, Setting<unknown>>>;
  readonly fileSetting: Setting<unknown>;
  readonly flags: Flags;
  readonly environment: Environment;
}

export interface GatheredSettings {
  readonly values: Record<string, unknown>;
  /** The source of each value that is not a default. */
  readonly origins: Record<string, string>;
  readonly texts: Record<string, string>;
  /** The errors, one line each. */
  readonly mistakes: string[];
}

/** The flag of a setting: `--filter-errors` for `filterErrors`. */
export function flagName(setting: Setting<unknown>): string {
  return `--${setting.name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

const PREFIX = 'CATALOGUE_';

/** The environment variable of a setting: `CATALOGUE_FILTER_ERRORS` for `filterErrors`. */
export function environmentName(setting: Setting<unknown>): string {
  return `${PREFIX}${setting.name.replace(/[A-Z]/g, '_$&').toUpperCase()}`;
}

/** An environment without settings, for a process that gets all of them as flags. */
export function withoutSettings(environment: Environment): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith(PREFIX)));
}

/**
 * Gathers the settings: flag, else environment, else file, else default. An empty environment variable counts as
 * absent; several values in one are separated by blanks or commas. Relative paths in the file are relative to the file.
 * Throws OperationError `file` if the TOML file cannot be read, `usage` if it is not TOML.
 */
export function gatherSettings(sources: Sources): GatheredSettings {
  const mistakes: string[] = [];
  const path = given(sources.fileSetting, sources, undefined);
  const file = path && readConfigFile(valueOf(sources.fileSetting, path, mistakes), sources, mistakes);
  mistakes.push(...unknownVariables(sources));
  const values: Record<string, unknown> = {};
  const origins: Record<string, string> = {};
  const texts: Record<string, string> = {};
  for (const [key, setting] of Object.entries(sources.declarations)) {
    const source = given(setting, sources, file);
    values[key] = source ? valueOf(setting, source, mistakes) : setting.initial;
    if (!source) continue;
    origins[key] = source.from;
    texts[key] = source.values.map(String).join(' ');
  }
  return { values, origins, texts, mistakes };
}

/** A human-readable row per setting: TOML key, value and source. */
export function settingRows(
  declarations: Sources['declarations'],
  { values, origins, texts }: GatheredSettings,
): readonly (readonly [name: string, value: string, from: string])[] {
  return Object.entries(declarations).map(([key, setting]) => {
    const { name, initial, initialText } = setting;
    const value = values[key];
    // If the value is undefined or has another unit than the input, `initialText` describes it.
    const isTold = value !== initial || (name === key && value !== undefined);
    return [name, texts[key] ?? (isTold ? String(value) : initialText), origins[key] ?? 'default'];
  });
}

/** Otherwise a misspelt variable would silently leave its setting at the default. */
function unknownVariables({ declarations, fileSetting, environment }: Sources): readonly string[] {
  const known = [...Object.values(declarations), fileSetting].map(environmentName);
  const unknown = Object.keys(environment).filter((name) => name.startsWith(PREFIX) && !known.includes(name));
  return unknown.map(
    (name) => `unknown environment variable ${name}: the nearest known is ${closestName(name, known)}`,
  );
}

/** The source of the values, and the source of each value of a list in the file. */
interface Given {
  readonly from: string;
  readonly values: readonly unknown[];
  readonly froms?: readonly string[];
}

interface ConfigFile extends TomlDocument {
  readonly path: string;
}

function given(setting: Setting<unknown>, sources: Sources, file: ConfigFile | undefined): Given | undefined {
  const flag = sources.flags[setting.name];
  if (flag !== undefined) {
    const name = flag === false ? flagName(setting).replace(/^--/, '--no-') : flagName(setting);
    return { from: `flag ${name}`, values: [flag].flat().map(String) };
  }
  const variable = sources.environment[environmentName(setting)];
  if (variable) {
    const values = setting.arity === 'many' ? variable.split(/[\s,]+/).filter(Boolean) : [variable];
    return { from: `environment variable ${environmentName(setting)}`, values };
  }
  const value = file && Object.hasOwn(file.table, setting.name) ? file.table[setting.name] : undefined;
  if (!file || value === undefined) return undefined;
  const members: readonly unknown[] = setting.arity === 'many' && Array.isArray(value) ? value : [value];
  const locationOf = (...path: TomlPath): string => `${placeText(file.placeOf(path))}: key ${setting.name}`;
  return {
    from: locationOf(setting.name),
    values: members.map((member) => fileValue(setting, member, file.path)),
    froms: members.map((_, i) => locationOf(setting.name, i)),
  };
}

// A value of the right TOML type becomes text. Any other value is wrapped, and valueOf rejects it. Paths are relative
// to the file, except `-`, which is standard output.
function fileValue(setting: Setting<unknown>, member: unknown, path: string): unknown {
  if (typeof member !== setting.kind.toml) return { member };
  const isPath = setting.kind === PATH && member !== '' && member !== '-';
  return isPath ? resolve(dirname(path), String(member)) : String(member);
}

function valueOf(setting: Setting<unknown>, source: Given, mistakes: string[]): unknown {
  const values = source.values.map((text, i) => {
    const value = typeof text === 'string' ? setting.kind.parse(text) : undefined;
    if (value === undefined) {
      mistakes.push(`${source.froms?.[i] ?? source.from}: got ${shown(text)}, want ${setting.kind.wanted}`);
    }
    return value;
  });
  return setting.gather(values);
}

function shown(value: unknown): string {
  return JSON.stringify(typeof value === 'object' && value !== null && 'member' in value ? value.member : value);
}

function readConfigFile(path: unknown, sources: Sources, mistakes: string[]): ConfigFile | undefined {
  if (typeof path !== 'string') return undefined;
  const document = readDocument(path);
  const known = Object.values(sources.declarations).map((setting) => setting.name);
  for (const key of Object.keys(document.table)) {
    if (known.includes(key)) continue;
    const place = placeText(document.placeOf([key]));
    mistakes.push(`${place}: unknown key ${JSON.stringify(key)}; the nearest known is ${closestName(key, known)}`);
  }
  return { ...document, path };
}

/** A file of settings has a few hundred bytes. */
const FILE_BYTES_MAX = 64 << 10;

function readDocument(path: string): TomlDocument {
  const reading = readToml(path, readText(path));
  if (reading.kind === 'read') return reading;
  throw new OperationError('usage', `${placeText(reading.place)}: ${reading.reason}`);
}

function readText(path: string): string {
  let reason: string;
  try {
    const bytes = readAtMost(path, FILE_BYTES_MAX);
    if (typeof bytes !== 'string') return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    reason = bytes === 'noFile' ? NO_FILE : `it has more than ${FILE_BYTES_MAX} bytes`;
  } catch (cause) {
    reason = reasonOf(cause);
  }
  throw new OperationError('file', `config file ${path} cannot be read (${reason})`);
}

/** An error line for each pair of these settings with the same value other than 0. */
export function sharedValues(
  { values, origins }: Pick<GatheredSettings, 'values' | 'origins'>,
  names: readonly string[],
): readonly string[] {
  return names.flatMap((name, i) => {
    const other = names.slice(0, i).find((before) => values[before] === values[name]);
    if (other === undefined || !values[name]) return [];
    const where = origins[name] ?? `setting ${name}`;
    return [`${where}: got ${values[name] as number}, which is also the ${other}; want a ${names[0]} of its own`];
  });
}
