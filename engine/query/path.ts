// Walks the names of a path over the fields of a collection: of a filter also through links, of ordering and facets
// over its own records only.
import type { CollectionIndex, FieldNode, Link, Members, Table } from '../index/table.ts';
import type { Collection } from '../schema/types.ts';
import type { FieldIndex } from '../index/field.ts';

/** A record that a link names, which may not exist, and the field with that link. */
interface LinkedRecord {
  readonly key: string;
  readonly to: Collection;
  readonly id: number;
}

/**
 * The records of collections with all of `keys` that the record in a row links to: by to-one links, and by the first
 * `most` links of each to-many one. Cost: the fields of the collection, and these links.
 */
export function linkedRecords(
  { members }: Pick<CollectionIndex, 'members'>,
  row: number,
  keys: readonly string[],
  most: number,
): readonly LinkedRecord[] {
  return [...members.values()].flatMap((node) => {
    if (node.kind === 'record' || !node.link) return [];
    const to = node.link.to().declaration;
    const names = new Set(to.fields.map(({ name }) => name));
    if (!keys.every((key) => names.has(key))) return [];
    return idsAt(node, row, most).map((id) => ({ key: node.name, to, id }));
  });
}

/** The ids that stand in a row of a link, or in the first rows of links that are its. */
function idsAt(node: Exclude<FieldNode, { kind: 'record' }>, row: number, most: number): readonly number[] {
  const isMany = node.kind === 'many';
  const index = isMany ? node.id : node.index;
  if (!index) return [];
  const start = isMany ? node.table.starts![row]! : row;
  const end = isMany ? Math.min(node.table.starts![row + 1]!, start + most) : row + 1;
  const { numbers, fitting } = index.dictionary;
  const ids: number[] = [];
  for (let at = start; at < end; at++) {
    const code = index.codeAt(at);
    if (code < fitting) ids.push(numbers![code]!);
  }
  return ids;
}

/** A to-many relation on a path; `path` leads to it from the collection, its own name last. */
export interface ManyStep {
  readonly kind: 'many';
  readonly path: readonly string[];
  readonly table: Table;
  readonly isRelation: boolean;
}

/** A link on a path, from the rows of `index` to those of the collection it links to; `path` leads to the link. */
export interface LinkStep {
  readonly kind: 'link';
  readonly path: readonly string[];
  readonly index: FieldIndex;
  readonly link: Link;
}

/**
 * Where a path ends. `path` holds the names that fit, in full: `permissions__uuid` crosses the link that is the id of
 * permissions, and is `permissions__ob_id__uuid`; `length` is how many names of the key that was. `index` is over the
 * rows of the last of `steps`, or of the collection where there is none, and undefined where the path ends on an
 * embedded record without an id; `link` says where it points if it holds links. `isRelation` where the path ends on a
 * relation, so that the index is of its id (A36), and `idNames` then lead on to this id.
 */
export interface PathEnd {
  readonly path: readonly string[];
  readonly length: number;
  readonly index: FieldIndex | undefined;
  readonly link: Link | undefined;
  readonly isRelation: boolean;
  readonly idNames: readonly string[];
  readonly steps: readonly (ManyStep | LinkStep)[];
}

/** Ids that are links, and the member of an embedded record that holds them, where it is one. */
interface Crossing {
  readonly index: FieldIndex;
  readonly link: Link;
  readonly idName: string | undefined;
}

/** A node, or the id of a linked record: that is the link itself, so that a dangling one keeps it (A60). */
type Place = FieldNode | { readonly kind: 'linked id'; readonly index: FieldIndex };

interface Walk {
  readonly path: string[];
  readonly steps: (ManyStep | LinkStep)[];
  members: Members;
  last: Place | undefined;
}

/** A path that ends on something with values. */
export type LocatedField = PathEnd & { readonly index: FieldIndex };

const NO_MEMBERS: Members = new Map();

/**
 * Follows names as far as they are fields; undefined where the first is none. Behind a relation the members of the
 * embedded record come first, then those of the record that its link points at (A60). Cost: the names.
 */
export function locate(collection: CollectionIndex, names: readonly string[]): PathEnd | undefined {
  const { walk, length } = walked(collection, names);
  const { path, steps, last } = walk;
  if (!last) return undefined;
  const link = crossingOf(last);
  return {
    path,
    length,
    index: last.kind === 'values' || last.kind === 'linked id' ? last.index : last.id,
    link: link?.link,
    isRelation: isRelation(last),
    idNames: idNamesOf(last, link),
    steps,
  };
}

function walked(collection: CollectionIndex, names: readonly string[]): { walk: Walk; length: number } {
  const walk: Walk = { path: [], steps: [], members: collection.members, last: undefined };
  let length = 0;
  while (length < names.length && follow(walk, names[length]!)) length++;
  return { walk, length };
}

/**
 * The names that may follow a path of fields: the members of the embedded record, then the fields of the record that it
 * links to. Cost: the names of both.
 */
export function namesBehind(collection: CollectionIndex, names: readonly string[]): readonly string[] {
  const { members, last } = walked(collection, names).walk;
  const linked = (last && crossingOf(last))?.link.to().members.keys() ?? [];
  return [...new Set([...members.keys(), ...linked])];
}

/** Where paths end that conditions are made with again and again; a path that another thread sent is not among them. */
const places = new WeakMap<
  readonly string[],
  { readonly collection: CollectionIndex; readonly located: LocatedField }
>();

/** Has `locateField` answer this for the very path that it has, as long as that is there. */
export function keepPlace(collection: CollectionIndex, located: LocatedField): void {
  places.set(located.path, { collection, located });
}

/**
 * Where the path of a condition ends, which key.ts has found to have values. Cost: the names, or a look-up of a path
 * that is kept.
 */
export function locateField(collection: CollectionIndex, names: readonly string[]): LocatedField {
  const kept = places.get(names);
  if (kept?.collection === collection) return kept.located;
  const located = locate(collection, names);
  if (!located?.index) throw new Error(`a plan names ${names.join('__')}, which has no values`);
  return { ...located, index: located.index };
}

/** Goes on by one name; false where it is no field here. */
function follow(walk: Walk, name: string): boolean {
  const own = walk.members.get(name);
  if (own) {
    enter(walk, own);
    return true;
  }
  const crossing = walk.last && crossingOf(walk.last);
  const node = crossing?.link.to().members.get(name);
  if (!crossing || !node) return false;
  cross(walk, crossing, node);
  return true;
}

function enter(walk: Walk, node: FieldNode): void {
  walk.path.push(node.name);
  walk.last = node;
  walk.members = node.kind === 'values' ? NO_MEMBERS : node.members;
  if (node.kind !== 'many') return;
  walk.steps.push({ kind: 'many', path: [...walk.path], table: node.table, isRelation: node.isRelation });
}

function cross(walk: Walk, { index, link, idName }: Crossing, node: FieldNode): void {
  if (idName !== undefined) walk.path.push(idName);
  if (node.name === link.to().declaration.idField) {
    walk.path.push(node.name);
    walk.last = { kind: 'linked id', index };
    walk.members = NO_MEMBERS;
  } else {
    walk.steps.push({ kind: 'link', path: [...walk.path], index, link });
    enter(walk, node);
  }
}

function crossingOf(place: Place): Crossing | undefined {
  if (place.kind === 'linked id') return undefined;
  if (place.kind === 'values') return place.link && { index: place.index, link: place.link, idName: undefined };
  if (place.kind === 'many' && place.link && place.id) return { index: place.id, link: place.link, idName: undefined };
  const member = idMember(place);
  return member?.link && { index: member.index, link: member.link, idName: member.name };
}

function isRelation(place: Place): boolean {
  if (place.kind === 'linked id') return false;
  if (place.kind === 'values') return place.index.dictionary.type === 'link';
  return place.kind === 'record' || place.isRelation;
}

function idNamesOf(place: Place, crossing: Crossing | undefined): readonly string[] {
  if (place.kind === 'linked id') return [];
  const own = idMember(place);
  return [...(own ? [own.name] : []), ...(crossing ? [crossing.link.to().declaration.idField] : [])];
}

/** The member of an embedded record that is its id. */
function idMember(node: FieldNode): Extract<FieldNode, { kind: 'values' }> | undefined {
  if (node.kind === 'values') return undefined;
  for (const member of node.members.values()) if (member.kind === 'values' && member.index === node.id) return member;
  return undefined;
}

/** The values that a path ends on, with the tables of the to-many relations on the way, outermost first. */
export interface Values {
  readonly index: FieldIndex;
  readonly tables: readonly Table[];
}

/**
 * What a path of names has as values: a scalar's, or the ids of a relation that it ends on (A36); undefined where a
 * name is no field here, or where the embedded record at its end has no id. Cost: the names.
 */
export function valuesAt(collection: CollectionIndex, names: readonly string[]): Values | undefined {
  const tables: Table[] = [];
  let members = collection.members;
  let node: FieldNode | undefined;
  for (const name of names) {
    node = members.get(name);
    if (!node) return undefined;
    if (node.kind === 'many') tables.push(node.table);
    members = node.kind === 'values' ? NO_MEMBERS : node.members;
  }
  const index = node?.kind === 'values' ? node.index : node?.id;
  return index && { index, tables };
}
