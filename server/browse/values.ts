// Values of records as people read them: links by what they lead to, addresses as links, all else as text that
// keeps its direction to itself. What is long is cut in a table and whole on the page of its record.
import { type Collection, type CollectionIndex, collectionsOfPath, isObject, rowOfId } from '../../engine/engine.ts';
import { recordLabel } from '../../engine/described.ts';
import type { Site, Tour } from './site.ts';
import { type Child, html, type Markup } from './template.ts';

/** Characters of a text in a cell. */
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
const DEPTH_MAX = 6;
/** What a record inside another one is called by, the best first. */
const NAMES = ['title', 'name', 'value', 'label', 'url'];
/** A record and the ids that lead to it: only these are worth a link. */
const API_LINK = /^\/api\/(v2|v3)\/([^/?]+)\/(\d{1,15})\/?(?:\?.*)?$/;

/** What shows the values of one page; it counts what it looks up. */
export class ShownValues {
  readonly #site: Site;
  readonly #tour: Tour;
  #labelsLeft = LABELS_MAX;
  #membersLeft = PAGE_MEMBERS_MAX;

  constructor(site: Site, tour: Tour) {
    this.#site = site;
    this.#tour = tour;
  }

  /** A value in a cell of a table. */
  cell(value: unknown): Child {
    if (typeof value === 'string') return instantOf(value) ?? this.#text(value, CELL_CHARACTERS_MAX);
    if (Array.isArray(value)) return this.#fewMembers(value);
    if (isObject(value)) return this.#name(value);
    return plain(value);
  }

  /** A value on the page of its record. */
  whole(value: unknown, depth = 0): Child {
    if (typeof value === 'string') return this.#text(value, Infinity);
    if (depth > DEPTH_MAX) return html`<span class="quiet">deeper, see the JSON</span>`;
    if (Array.isArray(value)) {
      if (value.length === 0) return html`<span class="quiet">none</span>`;
      const most = this.#membersOf(value.length);
      const shown = value.slice(0, most).map((each) => html`<li>${this.whole(each, depth + 1)}</li>`);
      const more = value.length > most && html`<li class="quiet">and ${value.length - most} more</li>`;
      return html`<ul class="members">
        ${shown}${more}
      </ul>`;
    }
    if (isObject(value)) {
      const members = Object.entries(value);
      const most = this.#membersOf(members.length);
      const more = members.length > most && html`<div class="quiet">and ${members.length - most} more</div>`;
      return html`<dl class="inner">
        ${members.slice(0, most).map(
          ([key, each]) =>
            html`<div>
              <dt><bdi>${key}</bdi></dt>
              <dd>${this.whole(each, depth + 1)}</dd>
            </div>`,
        )}${more}
      </dl>`;
    }
    return plain(value);
  }

  /** How many of so many members are shown; the page has those less left. */
  #membersOf(count: number): number {
    const most = Math.min(count, MEMBERS_MAX, this.#membersLeft);
    this.#membersLeft -= most;
    return most;
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

  #fewMembers(values: readonly unknown[]): Child {
    if (values.length === 0) return html`<span class="quiet">none</span>`;
    const shown = values.slice(0, CELL_MEMBERS_MAX).map((each, i) => [i > 0 && ', ', this.cell(each)]);
    const more =
      values.length > CELL_MEMBERS_MAX && html` <span class="quiet">+${values.length - CELL_MEMBERS_MAX}</span>`;
    return html`<span class="few">${shown}${more}</span>`;
  }

  /** A record inside another by its name, its links, or what it says first. */
  #name(value: Readonly<Record<string, unknown>>): Child {
    const name = NAMES.find((key) => typeof value[key] === 'string' && value[key] !== '');
    if (name !== undefined) return this.cell(value[name]);
    const links = Object.values(value).filter(
      (each) => typeof each === 'string' && ownRest(this.#site, each) !== undefined,
    );
    if (links.length > 0) return this.#fewMembers(links);
    const texts = Object.entries(value).flatMap(([key, each]) =>
      isScalar(each) && each !== '' ? [`${key} ${each}`] : [],
    );
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

/** A date with a time, to the second and in one line; undefined for all other texts. */
function instantOf(text: string): Markup | undefined {
  const [, day = '', time = ''] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)[.\dZ+:-]{0,32}$/.exec(text) ?? [];
  return day === '' ? undefined : html`<time class="number" datetime="${text}">${day} ${time}</time>`;
}

function plain(value: unknown): Child {
  if (value === null || value === undefined) return html`<span class="quiet">null</span>`;
  return html`<span class="number">${isScalar(value) && String(value)}</span>`;
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/** The value of a JSON text; of what is none, as in a snapshot that somebody forged, the text itself. */
export function valueIn(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
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
