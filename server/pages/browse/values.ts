// Renders values of records. A link to a record shows that record's label, a web address becomes a link, and any other
// value is text whose direction is isolated. Long values are cut in tables and complete on the page of their record.
import { type Collection, rowOfId } from '../../../engine/engine.ts';
import { collectionOfLink, fieldLabel, GENERIC_LINKS, kindLabel, type Member } from '../../../engine/described.ts';
import { labelOf } from './names.ts';
import { isWebAddress, linkTarget } from './records.ts';
import { instantText, ownRest, servedText, type Site, type Tour } from './site.ts';
import { type JsonOutline, jsonOutline, jsonString } from './jsonOutline.ts';
import { type Child, html, type Markup } from './template.ts';

export const CELL_CHARACTERS_MAX = 160;
/** Longer texts need a wide column. */
const LONG_CHARACTERS = 40;
/** Members of a list that are shown in a cell, and on the page of a record. */
const CELL_MEMBERS_MAX = 3;
const MEMBERS_MAX = 500;
/**
 * Members of all lists and records that one page shows, at 1 us each. Nested values may have almost as many members as
 * bytes.
 */
const PAGE_MEMBERS_MAX = 3000;
/** Linked records that are looked up for one page. Each takes two binary searches. */
const LABELS_MAX = 2000;
/** Levels of nested records that are shown. Deeper ones are only in the JSON. */
const LEVELS_MAX = 7;
/** Members that serve as the name of an embedded record, in order of preference. */
const NAMES = ['title', 'name', 'value', 'label', 'url'];
const SCALAR = /^(?:[\d-]|true$|false$)/;

/** The field of a value. */
interface Place {
  readonly collection: string;
  readonly key: string;
}

/** Renders the values of one page, and counts its lookups. */
export class ShownValues {
  readonly #site: Site;
  readonly #tour: Tour;
  #labelsLeft = LABELS_MAX;
  readonly #members = { left: PAGE_MEMBERS_MAX };
  /** By path. */
  readonly #labels = new Map<string, string>();

  constructor(site: Site, tour: Tour) {
    this.#site = site;
    this.#tour = tour;
  }

  /** Renders the JSON of the value of a field for a table cell. Cost: one pass over it. */
  cell(json: string, key: string): Child {
    const limits = { listMax: CELL_MEMBERS_MAX, objectMax: Infinity, levels: LEVELS_MAX };
    return this.#cell({ ...jsonOutline(json, { ...limits, budget: { left: Infinity } }), key });
  }

  #cell({ key, json, members, count }: JsonOutline): Child {
    const text = jsonString(json);
    if (text !== undefined) return instantOf(text) ?? this.#text(text, CELL_CHARACTERS_MAX);
    if (!isNested(json)) return plain(json, CELL_CHARACTERS_MAX);
    if (!members) return html`<span class="quiet">${'…'}</span>`;
    if (json.startsWith('[')) return this.#fewMembers(members, count);
    const generic = genericLink(key, (name) => members.find((each) => each.key === name)?.json);
    return generic ? this.linkTo(generic) : this.#name(members);
  }

  /**
   * Renders the JSON of a value for the page of its record. `key` is that of its field in the collection. Cost: one
   * pass over it, and the members that are shown.
   */
  whole(json: string, collection: string, key: string): Child {
    const limits = { listMax: MEMBERS_MAX, objectMax: MEMBERS_MAX, levels: LEVELS_MAX };
    return this.#whole(jsonOutline(json, { ...limits, budget: this.#members }), { collection, key });
  }

  #whole({ json, members, count }: JsonOutline, at: Place): Child {
    const text = jsonString(json);
    if (text !== undefined) return this.#text(text, Infinity);
    if (!isNested(json)) return plain(json, Infinity);
    if (!members) return html`<span class="quiet">deeper, see the JSON</span>`;
    const more = count > members.length && `and ${count - members.length} more`;
    if (json.startsWith('[')) {
      if (count === 0) return html`<span class="quiet">none</span>`;
      return html`<ul class="members">
        ${members.map((each) => html`<li>${this.#whole(each, at)}</li>`)}${more && html`<li class="quiet">${more}</li>`}
      </ul>`;
    }
    const generic = genericLink(at.key.split('__').at(-1)!, (name) => members.find((each) => each.key === name)?.json);
    return html`<dl class="inner">
      ${members.map(
        (each) =>
          html`<div>
            <dt><bdi>${this.#label(at, each.key)}</bdi></dt>
            <dd>
              ${generic?.key === each.key ? this.linkTo(generic) : this.#whole(each, { ...at, key: `${at.key}__${each.key}` })}
            </dd>
          </div>`,
      )}${more && html`<div class="quiet">${more}</div>`}
    </dl>`;
  }

  /**
   * Renders the start of a text whose rest was not read. It is never a link, because the rest of the address is
   * unknown.
   */
  start(text: string, most = Infinity): Child {
    return textOf(servedText(this.#site, this.#tour, `${text}…`), most);
  }

  #text(stored: string, most: number): Child {
    if (stored === '') return html`<span class="quiet">empty</span>`;
    const link = this.#link(stored);
    if (link) return link;
    const text = servedText(this.#site, this.#tour, stored);
    if (isWebAddress(text)) {
      return html`<a href="${text}" rel="noreferrer nofollow" class="away"><bdi>${cut(text, most)}</bdi></a>`;
    }
    return textOf(text, most);
  }

  /** The label of a member of an embedded record. */
  #label({ collection, key }: Place, member: string): string {
    const path = `${key}__${member}`;
    const label = this.#labels.get(path) ?? fieldLabel(collection, path).split(' › ').at(-1)!;
    this.#labels.set(path, label);
    return label;
  }

  /** Converts a stored link to a record into a link to its page. Undefined for any other text. */
  #link(text: string): Markup | undefined {
    const target = linkTarget(this.#site, text);
    return target && this.#pageLink(target.declared, target.id);
  }

  /** Renders a generic link as a link to the page of its record. */
  linkTo({ to, id }: ShownLink): Markup {
    return this.#pageLink(this.#site.collections(to).declaration, Number(id));
  }

  #pageLink(declared: Collection, id: number): Markup {
    const href = `${this.#tour.up}browse/${declared.name}/${id}/`;
    const fallback = `${kindLabel(declared.name)} ${id}`;
    if (this.#labelsLeft-- <= 0) return html`<a href="${href}">${fallback}</a>`;
    const collection = this.#site.collections(declared.name);
    const row = rowOfId(collection, id);
    const label = row < 0 ? undefined : labelOf(this.#site, this.#tour, collection, row);
    const missing = row < 0 && html` <span class="quiet">(not in this catalogue)</span>`;
    return html`<a href="${href}"><bdi>${cut(label ?? fallback, CELL_CHARACTERS_MAX)}</bdi></a
      >${missing}`;
  }

  #fewMembers(members: readonly JsonOutline[], count: number): Child {
    if (count === 0) return html`<span class="quiet">none</span>`;
    const shown = members.map((each, i) => [i > 0 && ', ', this.#cell(each)]);
    const more = count > members.length && html` <span class="quiet">+${count - members.length}</span>`;
    return html`<span class="few">${shown}${more}</span>`;
  }

  /** Renders an embedded record by its name, otherwise by its links, otherwise by its scalar members. */
  #name(members: readonly JsonOutline[]): Child {
    const named = NAMES.map((name) => members.find(({ key, json }) => key === name && /^"[^"]/.test(json)));
    const name = named.find((one) => one !== undefined);
    if (name) return this.#cell(name);
    const links = members.filter(({ json }) => ownRest(this.#site, jsonString(json) ?? '') !== undefined);
    if (links.length > 0) return this.#fewMembers(links.slice(0, CELL_MEMBERS_MAX), links.length);
    const texts = members.flatMap(({ key, json }) => {
      const text = jsonString(json) ?? (SCALAR.test(json) ? json : '');
      return text === '' ? [] : [`${key} ${text}`];
    });
    return html`<bdi class="quiet">${cut(texts.join(', '), CELL_CHARACTERS_MAX)}</bdi>`;
  }
}

/** A generic link, and the key of the member that is shown as it. */
export interface ShownLink {
  readonly key: string;
  readonly to: string;
  readonly id: string;
}

/** The generic link in an object with this key, or in a record of this collection. `jsonOf` returns its members. */
function genericLink(parent: string, jsonOf: (name: string) => string | undefined): ShownLink | undefined {
  for (const link of GENERIC_LINKS) {
    if (link.parent !== parent) continue;
    const [id = '', kind = ''] = [jsonOf(link.id), jsonOf(link.discriminator)];
    const to = collectionOfLink(link, jsonString(kind) ?? '');
    if (to !== undefined && /^\d{1,15}$/.test(id)) return { key: link.id, to, id };
  }
  return undefined;
}

/** The generic link among the members of a record. */
export function linkAmong(collection: string, members: readonly Member[]): ShownLink | undefined {
  return genericLink(collection, (name) => {
    const value = members.find(({ key }) => key === name)?.value;
    return value?.kind === 'whole' ? value.json : undefined;
  });
}

function textOf(text: string, most: number): Markup {
  return html`<bdi${text.length > LONG_CHARACTERS && html` class="long"`}>${cut(text, most)}</bdi>`;
}

function isNested(json: string): boolean {
  return json.startsWith('[') || json.startsWith('{');
}

function instantOf(text: string): Markup | undefined {
  const shown = instantText(text);
  return shown === undefined ? undefined : html`<time class="number" datetime="${text}">${shown}</time>`;
}

function plain(json: string, most: number): Child {
  if (json === 'null') return html`<span class="quiet">null</span>`;
  return html`<span class="number">${cut(json, most)}</span>`;
}

/** Cuts a text to at most `most` characters, between two words if the last gap is in the second half. */
export function cutAtWord(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = text.slice(0, most + 1).search(/\s+\S*$/);
  return end > most / 2 ? `${text.slice(0, end)}…` : cut(text, most);
}

/** Cuts a text to at most `most` characters, without splitting a surrogate pair. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most).replace(/[\ud800-\udbff]$/, '')}…`;
}
