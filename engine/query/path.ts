// Follows the names of a path through the fields of a collection, its embedded records and its links.
import { DANGLING, targetOf } from '../index/join.ts';
import {
  type CollectionIndex,
  type FieldNode,
  type Link,
  type LinkOption,
  type Members,
  NO_MEMBERS,
  type Table,
  type ValuesNode,
} from '../index/table.ts';
import type { Collection } from '../schema/types.ts';
import type { FieldIndex } from '../index/field.ts';
import { RELATION_STEPS_MAX } from './limits.ts';

/** The collection that a top-level field links to; undefined for any other field. */
export function linkedTo({ members }: Pick<CollectionIndex, 'members'>, key: string): Collection | undefined {
  return members.get(key)?.link?.to().declaration;
}

/** Records that a row links to. */
interface LinkedRows {
  /** The rows of the first links, without links to records that do not exist. */
  readonly rows: readonly number[];
  /** The number of all links. */
  readonly count: number;
}

/**
 * Returns a reader of the records of the collection `to` whose ids a row has at `key`, a link or embedded records. Cost
 * of each read: its first `most` ids, each with a binary search if the field is no link.
 */
export function makeLinkReader(
  { members }: Pick<CollectionIndex, 'members'>,
  key: string,
  to: CollectionIndex,
  most: number,
): (row: number) => LinkedRows {
  const node = members.get(key)!;
  const { index } = node;
  const starts = node.kind === 'many' ? node.table.starts! : undefined;
  const link = node.link?.to() === to ? node.link : { targets: undefined, to: () => to };
  if (!index) return () => ({ rows: [], count: 0 });
  return (row) => {
    const start = starts ? starts[row]! : row;
    const end = starts ? starts[row + 1]! : row + 1;
    const rows: number[] = [];
    for (let at = start; at < Math.min(end, start + most); at++) {
      const linked = targetOf(index, link, index.codeAt(at));
      if (linked !== DANGLING) rows.push(linked);
    }
    return { rows, count: end - start };
  };
}

/** A to-many relation on a path. */
export interface ManyStep {
  readonly kind: 'many';
  /** Leads from the collection to the relation; its own name is last. */
  readonly path: readonly string[];
  readonly table: Table;
  readonly isRelation: boolean;
}

/** A link on a path, from the rows of `index` to those of the collection that it links to. */
export interface LinkStep {
  readonly kind: 'link';
  /** Leads from the collection to the link. */
  readonly path: readonly string[];
  readonly index: FieldIndex;
  readonly link: Link;
}

/** A generic link on a path, always the last step: each of its ends has the steps in one collection. */
export interface GenericStep {
  readonly kind: 'generic';
  /** Leads from the collection to the ids. */
  readonly path: readonly string[];
  /** Not empty. All have values of the same type. */
  readonly ends: readonly GenericEnd[];
}

interface GenericEnd {
  readonly option: LinkOption;
  readonly path: readonly string[];
  readonly index: FieldIndex | undefined;
  /** The steps after the generic link. */
  readonly steps: readonly Step[];
}

export type Step = ManyStep | LinkStep | GenericStep;

/** The end of a path. */
export interface PathEnd {
  /**
   * The names that fit, in full. `permissions__uuid` crosses the link that is the id of permissions, so it becomes
   * `permissions__ob_id__uuid`.
   */
  readonly path: readonly string[];
  /** Number of names of the key that fit. */
  readonly length: number;
  /**
   * Over the rows of the last of `steps`; without steps, over those of the collection. `undefined` if the path ends on
   * an embedded record without an id. After a generic link it is that of the first collection.
   */
  readonly index: FieldIndex | undefined;
  /** The target, if `index` holds links. */
  readonly link: Link | undefined;
  /** The path ends on a relation, so `index` is over its ids (A36). */
  readonly isRelation: boolean;
  /** The names from the relation to its id; empty if the path ends on a field. */
  readonly idNames: readonly string[];
  readonly steps: readonly Step[];
}

interface Walk {
  readonly path: string[];
  readonly steps: (ManyStep | LinkStep)[];
  members: Members;
  last: FieldNode | undefined;
}

/** A path that ends on a field with values. */
export type LocatedField = PathEnd & { readonly index: FieldIndex };

/**
 * Follows names as long as they are fields; `undefined` if the first is not a field. After a relation, the members of
 * the embedded record come first, then those of the record that its link points at (A60). Cost: the names, after a
 * generic link in each of its collections.
 */
export function locate(collection: Pick<CollectionIndex, 'members'>, names: readonly string[]): PathEnd | undefined {
  const { walk, length } = walkPath(collection, names);
  const { path, steps, last } = walk;
  if (!last) return undefined;
  const generic = length < names.length ? locateInOptions(collection, names, { walk, length }) : undefined;
  if (generic) return generic;
  return {
    path,
    length,
    index: last.index,
    link: idsOf(last)?.link,
    isRelation: isRelation(last),
    idNames: idNamesOf(last),
    steps,
  };
}

/**
 * Follows the names after a generic link in each collection that it may lead to. The ends that use most names count,
 * and of these the ones whose values are of the same type as those of the first (A172). `undefined` if no collection
 * has the next name.
 */
function locateInOptions(
  collection: Pick<CollectionIndex, 'members'>,
  names: readonly string[],
  { walk, length }: { readonly walk: Walk; readonly length: number },
): PathEnd | undefined {
  // A second generic link is not crossed: the number of ends would grow with each.
  if (names.some(isOptionName)) return undefined;
  const [before, after] = [names.slice(0, length), names.slice(length)];
  const all = optionsOf(walk.last).flatMap((option) => {
    const end = locate(collection, [...before, option.node.name, ...after]);
    return end && end.length > length + 1 ? [{ option, end }] : [];
  });
  const most = all.reduce((max, { end }) => Math.max(max, end.length), 0);
  const longest = all.filter(({ end }) => end.length === most);
  const [first] = longest;
  if (!first) return undefined;
  const { index, isRelation, idNames } = first.end;
  const fitting = longest.filter(({ end }) => valueType(end) === valueType(first.end));
  const ends = fitting.map(({ option, end }) => {
    return { option, path: end.path, index: end.index, steps: end.steps.slice(walk.steps.length) };
  });
  const path = first.end.path.slice(0, first.end.path.findIndex(isOptionName));
  const steps = [...walk.steps, { kind: 'generic', path, ends } as const];
  const whole = [...path, ...after.slice(0, most - 1 - length)];
  return { path: whole, length: most - 1, index, link: undefined, isRelation, idNames, steps };
}

/** The type of the values at an end; all ids have the same. */
function valueType({ index, isRelation }: PathEnd): string | undefined {
  const type = index?.dictionary.type;
  if (type === undefined) return undefined;
  return isRelation ? 'id' : type === 'link' ? 'integer' : type;
}

/** Whether a name in a path is that of an option of a generic link. Clients cannot write it. */
export function isOptionName(name: string): boolean {
  return name.startsWith(',');
}

/** The collections that the ids at a place may lead to, if they are a generic link. */
function optionsOf(node: FieldNode | undefined): readonly LinkOption[] {
  const ids = node && idsOf(node);
  return (ids?.kind === 'values' && ids.options) || [];
}

function walkPath(
  { members }: Pick<CollectionIndex, 'members'>,
  names: readonly string[],
): { walk: Walk; length: number } {
  const walk: Walk = { path: [], steps: [], members, last: undefined };
  let length = 0;
  while (length < names.length && follow(walk, names[length]!)) length++;
  return { walk, length };
}

/**
 * The names that may follow a path of fields: the members of the embedded record, then the fields of the record that it
 * links to. Cost: the names of both.
 */
export function namesAfter(collection: CollectionIndex, names: readonly string[]): readonly string[] {
  const { walk, length } = walkPath(collection, names);
  const generic = length < names.length ? locate(collection, names)?.steps.at(-1) : undefined;
  if (generic?.kind === 'generic') {
    return [...new Set(generic.ends.flatMap(({ path }) => namesAfter(collection, path)))];
  }
  const { members, last } = walk;
  const nodes = [...optionsOf(last).map(({ node }) => node), ...(last ? [last] : [])];
  const linked = nodes.flatMap((node) => [...(idsOf(node)?.link?.to().members.keys() ?? [])]);
  return [...new Set([...members.keys(), ...linked])];
}

/**
 * Located fields of frequent conditions, by path. The key is the array itself, not its contents: an array received from
 * another thread is a copy and has no entry.
 */
const places = new WeakMap<
  readonly string[],
  { readonly collection: CollectionIndex; readonly located: LocatedField }
>();

/** Makes `locateField` return `located` for this same path array while the array exists. */
export function cacheLocation(collection: CollectionIndex, located: LocatedField): void {
  places.set(located.path, { collection, located });
}

/**
 * The end of the path of a condition, which key.ts has found to have values; throws if it has none. Cost: the names, or
 * one look-up if the path is cached.
 */
export function locateField(collection: CollectionIndex, names: readonly string[]): LocatedField {
  const kept = places.get(names);
  if (kept?.collection === collection) return kept.located;
  const located = locate(collection, names);
  if (!located?.index) throw new Error(`a plan names ${names.join('__')}, which has no values`);
  return { ...located, index: located.index };
}

/** Follows one name; false if it is not a field here. */
function follow(walk: Walk, name: string): boolean {
  const own = walk.members.get(name);
  if (own) {
    enter(walk, own);
    return true;
  }
  const ids = walk.last && idsOf(walk.last);
  const to = ids?.link?.to();
  const node = to?.members.get(name) ?? optionsOf(walk.last).find((option) => option.node.name === name)?.node;
  if (!ids || !node) return false;
  if (ids !== walk.last) walk.path.push(ids.name);
  // The id of a linked record is the link itself, so a dangling link still has one (A60).
  if (name === to?.declaration.idField) enter(walk, { kind: 'values', name, index: ids.index!, members: NO_MEMBERS });
  else {
    if (ids.link) walk.steps.push({ kind: 'link', path: [...walk.path], index: ids.index!, link: ids.link });
    enter(walk, node);
  }
  return true;
}

function enter(walk: Walk, node: FieldNode): void {
  walk.path.push(node.name);
  walk.last = node;
  walk.members = node.members;
  if (node.kind !== 'many') return;
  walk.steps.push({ kind: 'many', path: [...walk.path], table: node.table, isRelation: node.isRelation });
}

function isRelation(node: FieldNode): boolean {
  return node.kind === 'many' ? node.isRelation : node.kind === 'record' || node.link !== undefined;
}

/** The ids of a field: the field itself, or the id among the members of an embedded record. */
function idsOf(node: FieldNode): FieldNode | undefined {
  return node.members.size === 0 ? node : idMember(node);
}

function idNamesOf(node: FieldNode): readonly string[] {
  const ids = idsOf(node);
  return [...(ids && ids !== node ? [ids.name] : []), ...(ids?.link ? [ids.link.to().declaration.idField] : [])];
}

/** The member of an embedded record that is the record's id. */
export function idMember(node: FieldNode): ValuesNode | undefined {
  for (const member of node.members.values())
    if (member.kind === 'values' && member.index === node.index) return member;
  return undefined;
}

/** The values at the end of a path. */
export interface Values {
  readonly index: FieldIndex;
  /** The relations and links on the way, outermost first. Generic links are not crossed. */
  readonly steps: readonly (ManyStep | LinkStep)[];
}

/**
 * The values at the end of a path: those of a scalar, or the ids of a relation (A36). `undefined` if a name is not a
 * field here, or if the embedded record at the end has no id. Cost: the names.
 */
export function valuesAt(collection: CollectionIndex, names: readonly string[]): Values | undefined {
  if (names.length > RELATION_STEPS_MAX + 1) return undefined;
  const located = locate(collection, names);
  if (!located?.index || located.length < names.length || located.steps.at(-1)?.kind === 'generic') return undefined;
  return { index: located.index, steps: located.steps as Values['steps'] };
}

/**
 * The names of a joined field in full (see `PathEnd`): a path of two or more fields to any value. Undefined if a name
 * is not a field here. Cost: the names.
 */
export function joinedPath(
  collection: Pick<CollectionIndex, 'members'>,
  names: readonly string[],
): readonly string[] | undefined {
  if (names.length < 2 || names.length > RELATION_STEPS_MAX + 1) return undefined;
  const located = locate(collection, names);
  return located?.length === names.length ? located.path : undefined;
}

/** The number of links on a path that ends on links, or 0. Cost: the names. */
export function linksAlong({ members }: Pick<CollectionIndex, 'members'>, names: readonly string[]): number {
  let links = 0;
  let node: FieldNode | undefined;
  for (const name of names) {
    node = (node ? (node.link?.to() ?? node).members : members).get(name);
    if (!node) return 0;
    if (node.link) links++;
  }
  return node?.link ? links : 0;
}

/** As `valuesAt`, but only if a record has at most one of the values, because all steps are links. */
export function singleValueAt(
  collection: CollectionIndex,
  names: readonly string[],
): { readonly index: FieldIndex; readonly steps: readonly LinkStep[] } | undefined {
  const { index, steps } = valuesAt(collection, names) ?? {};
  return index && steps?.every((step) => step.kind === 'link') ? { index, steps } : undefined;
}

/** The values that a facet counts: those at the end of a path, or with a last name `year` the years of its dates. */
export function facetValues(
  collection: CollectionIndex,
  names: readonly string[],
): (Values & { readonly isYear?: true }) | undefined {
  const values = valuesAt(collection, names);
  if (values || names.at(-1) !== 'year') return values;
  const dates = valuesAt(collection, names.slice(0, -1));
  const type = dates?.index.dictionary.type;
  return type === 'date' || type === 'dateTime' ? { ...dates!, isYear: true } : undefined;
}
