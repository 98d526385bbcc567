// Values of records as people read them: links by what they lead to, addresses as links, all else as text that
// keeps its direction to itself. What is long is cut in a table and whole on the page of its record.
import { type Collection, type CollectionIndex, collectionsOfPath, rowOfId } from '../../../engine/engine.ts';
import { recordLabel } from '../../../engine/described.ts';
import { instantText, type Site, type Tour } from './site.ts';
import { type JsonOutline, jsonOutline, jsonString } from './jsonPanel.ts';
import { type Child, html, type Markup } from './template.ts';

export const CELL_CHARACTERS_MAX = 160;
/** Texts of so many characters want a wide column. */
const LONG_CHARACTERS = 40;
/** Members of a list shown in a cell, and on the page of a record. */
const CELL_MEMBERS_MAX = 3;
const MEMBERS_MAX = 500;
/** Members of all lists and records shown for one page, 1 us each: values in values have as many as they have bytes. */
const PAGE_MEMBERS_MAX = 3000;
/** Records that are looked up by their links for one page: each takes two binary searches. */
const LABELS_MAX = 2000;
/** Records in records in records: deeper ones are shown by the JSON only. */
const LEVELS_MAX = 7;
/** What a record inside another one is called by, the best first. */
const NAMES = ['title', 'name', 'value', 'label', 'url'];
const SCALAR = /^(?:[\d-]|true$|false$)/;
/** A record and the ids that lead to it: only these are worth a link. */
const API_LINK = /^\/api\/(v2|v3)\/([^/?]+)\/(\d{1,15})\/?(?:\?.*)?$/;

/** What shows the values of one page; it counts what it looks up. */
export class ShownValues {
  readonly #site: Site;
  readonly #tour: Tour;
  #labelsLeft = LABELS_MAX;
  readonly #members = { left: PAGE_MEMBERS_MAX };

  constructor(site: Site, tour: Tour) {
    this.#site = site;
    this.#tour = tour;
  }

  /** A value in a cell of a table, from its JSON. Cost: a pass over it. */
  cell(json: string): Child {
    const limits = { listMax: CELL_MEMBERS_MAX, objectMax: Infinity, levels: LEVELS_MAX };
    return this.#cell(jsonOutline(json, { ...limits, budget: { left: Infinity } }));
  }

  #cell({ json, members, count }: JsonOutline): Child {
    const text = jsonString(json);
    if (text !== undefined) return instantOf(text) ?? this.#text(text, CELL_CHARACTERS_MAX);
    if (!isNested(json)) return plain(json, CELL_CHARACTERS_MAX);
    if (!members) return html`<span class="quiet">${'…'}</span>`;
    return json.startsWith('{') ? this.#name(members) : this.#fewMembers(members, count);
  }

  /** A value on the page of its record, from its JSON. Cost: a pass over it, and the members that are shown. */
  whole(json: string): Child {
    const limits = { listMax: MEMBERS_MAX, objectMax: MEMBERS_MAX, levels: LEVELS_MAX };
    return this.#whole(jsonOutline(json, { ...limits, budget: this.#members }));
  }

  #whole({ json, members, count }: JsonOutline): Child {
    const text = jsonString(json);
    if (text !== undefined) return this.#text(text, Infinity);
    if (!isNested(json)) return plain(json, Infinity);
    if (!members) return html`<span class="quiet">deeper, see the JSON</span>`;
    const more = count > members.length && `and ${count - members.length} more`;
    if (json.startsWith('[')) {
      if (count === 0) return html`<span class="quiet">none</span>`;
      return html`<ul class="members">
        ${members.map((each) => html`<li>${this.#whole(each)}</li>`)}${more && html`<li class="quiet">${more}</li>`}
      </ul>`;
    }
    return html`<dl class="inner">
      ${members.map(
        (each) =>
          html`<div>
            <dt><bdi>${each.key}</bdi></dt>
            <dd>${this.#whole(each)}</dd>
          </div>`,
      )}${more && html`<div class="quiet">${more}</div>`}
    </dl>`;
  }

  /** The start of a text that was read no further: no link, since nobody knows where the whole would lead. */
  start(text: string, most = Infinity): Child {
    return textOf(servedText(this.#site, this.#tour, `${text}…`), most);
  }

  #text(stored: string, most: number): Child {
    if (stored === '') return html`<span class="quiet">empty</span>`;
    const link = this.#link(stored);
    if (link) return link;
    const text = servedText(this.#site, this.#tour, stored);
    if (/^https?:\/\/[^\s]+$/.test(text) && URL.canParse(text)) {
      return html`<a href="${text}" rel="noreferrer nofollow" class="away"><bdi>${cut(text, most)}</bdi></a>`;
    }
    return textOf(text, most);
  }

  /** The link of the store to a record, undefined for any other text. */
  #link(text: string): Markup | undefined {
    const [, version, segment = '', digits = ''] = API_LINK.exec(ownRest(this.#site, text) ?? '') ?? [];
    if (version !== 'v2' && version !== 'v3') return undefined;
    const candidates = collectionsOfPath(segment, version);
    const hasRecord = ({ name }: Collection): boolean => rowOfId(this.#site.collections(name), Number(digits)) >= 0;
    const declared = (this.#labelsLeft > 0 ? candidates.find(hasRecord) : undefined) ?? candidates[0];
    if (!declared) return undefined;
    const href = `${this.#tour.up}browse/${declared.name}/${digits}/`;
    const fallback = `${declared.name} ${digits}`;
    if (this.#labelsLeft-- <= 0) return html`<a href="${href}">${fallback}</a>`;
    const collection = this.#site.collections(declared.name);
    const row = rowOfId(collection, Number(digits));
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

  /** A record inside another by its name, its links, or what it says first. */
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

/** What a record is called on pages, undefined where nothing names it. Cost: see recordLabel. */
export function labelOf(site: Site, tour: Tour, collection: CollectionIndex, row: number): string | undefined {
  const label = recordLabel(collection, row);
  return label === undefined ? undefined : servedText(site, tour, label);
}

/** A stored text as the API serves it to this visitor: an own URL has the base URL that the visitor chose. */
function servedText(site: Site, { baseUrl }: Tour, text: string): string {
  const rest = ownRest(site, text);
  return rest === undefined ? text : baseUrl + rest;
}

/** What an own URL has behind its base, undefined of any other text. */
function ownRest({ storedBaseUrl }: Site, text: string): string | undefined {
  if (storedBaseUrl === '' || !text.startsWith(storedBaseUrl)) return undefined;
  const rest = text.slice(storedBaseUrl.length);
  return rest === '' || rest.startsWith('/') ? rest : undefined;
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

/** A text of at most so many characters, cut between words where one ends in its second half. */
export function cutAtWord(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = text.slice(0, most + 1).search(/\s+\S*$/);
  return end > most / 2 ? `${text.slice(0, end)}…` : cut(text, most);
}

/** A text of at most so many characters; no surrogate is cut from its other half. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most).replace(/[\ud800-\udbff]$/, '')}…`;
}
