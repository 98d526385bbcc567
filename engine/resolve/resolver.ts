// Resolves the public look-ups outside the API: records by path, datasets by id, records by the address of an
// identifier (A130 to A133). The caller has decoded the request and checked its size.
import { percentEncode } from '../query/links.ts';
import { jsonObject, jsonText } from '../bits/json.ts';
import { type CollectionIndex, rowOfId } from '../index/table.ts';
import { codesOfValues } from '../query/codes.ts';
import { SPEC_LINK_END } from '../column/served.ts';
import { COLLECTION_CODES, DATASETS, IDENTIFIERS, PLACED_RECORDS, PLACED_SETS } from '../schema/resolved.ts';
import { DatasetIndex } from './datasets.ts';
import type { TextListing } from './listing.ts';
import {
  folderOf,
  type FoundRecord,
  indexAt,
  isFirstOfFolder,
  isPath,
  longestPrefix,
  pathAsked,
  PathIndex,
  rowsOf,
  servedAt,
  servedFrom,
  textIndexAt,
} from './paths.ts';

/** Default path of the pages of records, after the base URL. */
const OWN_PAGES = '/browse/{collection}/{id}/';

/** The parts of a record that its page's URL contains. */
interface RecordName {
  readonly collection: string;
  readonly id: number;
  /** Empty if the record has none. */
  readonly uuid: string;
}

/**
 * The URL of the page of a record, with percent-encoded values. Empty if the template contains a uuid and the record
 * has none. Cost: the text.
 */
export function recordUrl(template: string | undefined, baseUrl: string, record: RecordName): string {
  const text = template ?? baseUrl + OWN_PAGES;
  if (record.uuid === '' && text.includes('{uuid}')) return '';
  return text
    .replaceAll('{collection}', record.collection)
    .replaceAll('{id}', String(record.id))
    .replaceAll('{uuid}', () => percentEncode(record.uuid));
}

/** How responses name the pages of records. */
export interface RecordPages {
  readonly baseUrl: string;
  readonly template: string | undefined;
}

const UNKNOWN = 'UNKNOWN';
// oxlint-disable-next-line no-control-regex -- a path with a line break would make two lines
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/** The resolver of one catalogue. `collections` must know every name of the declaration. Cost: some binary searches. */
export class Resolver {
  readonly #collections: (name: string) => CollectionIndex;
  readonly #records: PathIndex;
  readonly #sets: PathIndex;
  readonly #datasets: DatasetIndex;

  constructor(collections: (name: string) => CollectionIndex) {
    this.#collections = collections;
    this.#records = new PathIndex(collections(PLACED_RECORDS.collection), PLACED_RECORDS);
    this.#sets = new PathIndex(collections(PLACED_SETS.collection), PLACED_SETS);
    this.#datasets = new DatasetIndex(collections(DATASETS.collection), this.#records);
  }

  /**
   * The record with the longest prefix of a decoded path, as JSON, see paths.ts. `undefined` if the path has too many
   * segments.
   */
  placed(path: Uint8Array, pages: RecordPages): string | undefined {
    const asked = pathAsked(path);
    if (asked === 'tooDeep') return undefined;
    const found = asked === 'unplaced' ? undefined : longestPrefix([this.#records, this.#sets], asked);
    return jsonObject([
      ['url', jsonText(found ? urlOf(found, pages) : '')],
      ['record_type', jsonText(found ? found.index.placed.type : '')],
      ['record_path', jsonText(found ? servedFrom(found.index.pathOf(found.row)!, pages.baseUrl) : '')],
      ['title', jsonText(found ? titleOf(found, pages) : '')],
    ]);
  }

  /** Every path with its record, as a JSON object in the order of the stored paths. */
  allPlaced(pages: RecordPages): TextListing {
    const index = this.#records;
    return braced(index.codes.end - index.codes.start, (i) => {
      const row = index.listedAt(index.codes.start + i);
      if (row < 0) return '';
      const found = { index, row };
      return jsonMember(servedFrom(index.pathOf(row)!, pages.baseUrl), [
        ['url', jsonText(urlOf(found, pages))],
        ['record_type', jsonText(index.placed.type)],
        ['title', jsonText(titleOf(found, pages))],
      ]);
    });
  }

  /**
   * Lines of text: the top-level folders, then every path, with `True` if its data is complete and `False` otherwise.
   */
  completeness(): TextListing {
    const index = this.#records;
    const { start, end } = index.codes;
    const count = end - start;
    const line = (path: Uint8Array, isComplete: boolean): string => {
      const text = servedFrom(path, '');
      return CONTROLS.test(text) ? '' : `${text} ${isComplete ? 'True' : 'False'}\n`;
    };
    return {
      entries: count * 2,
      head: '',
      separator: '',
      tail: '',
      entry: (i) => {
        const code = start + (i % count);
        const path = index.textOf(code);
        if (i < count) return isPath(path) && isFirstOfFolder(index, code) ? line(folderOf(path), false) : '';
        const row = index.listedAt(code);
        return row < 0 ? '' : line(path, index.isComplete(row));
      },
    };
  }

  dataset(id: Uint8Array): string {
    const found = this.#datasets.find(id);
    return jsonObject([
      ['directory', jsonText(found ? servedFrom(found.directory, '') : UNKNOWN)],
      ['identifier', jsonText(found ? servedFrom(found.id, '') : UNKNOWN)],
      ['version', jsonText(found && found.version !== '' ? found.version : UNKNOWN)],
    ]);
  }

  /** The ids of datasets that start with a prefix, with their directories, as a JSON object. */
  datasets(prefix: Uint8Array): TextListing {
    const { start, end } = this.#datasets.codesOf(prefix);
    return braced(end - start, (i) => {
      const found = this.#datasets.at(start + i);
      return found ? `${jsonText(servedFrom(found.id, ''))}:${jsonText(servedFrom(found.directory, ''))}` : '';
    });
  }

  /**
   * The record that an identifier's address belongs to, as JSON; its fields are `UNKNOWN` or empty if there is none.
   */
  identified(address: string, pages: RecordPages): string {
    const found = address === '' ? undefined : this.#identifiedRow(address, pages);
    return jsonObject([
      ['url', jsonText(found?.url ?? UNKNOWN)],
      ['identifier', jsonText(found ? address : '')],
      ['identifierType', jsonText(found?.type || UNKNOWN)],
    ]);
  }

  /** The first identifier with this address whose record exists. An own address may be stored in two ways. */
  #identifiedRow(address: string, pages: RecordPages): { readonly url: string; readonly type: string } | undefined {
    const identifiers = this.#collections(IDENTIFIERS.collection);
    const urls = textIndexAt(identifiers, IDENTIFIERS.url);
    if (!urls) return undefined;
    const form = { baseUrl: pages.baseUrl, version: 'v3', linkEnd: SPEC_LINK_END } as const;
    let first = { row: Infinity, url: '' };
    for (const { start, end } of codesOfValues(urls.dictionary, [address], form)) {
      for (let code = start; code < end; code++) {
        for (const row of rowsOf(urls, code)) {
          if (row >= first.row) break;
          const url = this.#relatedUrl(identifiers, row, pages);
          if (url !== '') first = { row, url };
        }
      }
    }
    if (first.url === '') return undefined;
    return { url: first.url, type: servedAt(indexAt(identifiers, IDENTIFIERS.type), first.row, pages.baseUrl) };
  }

  #relatedUrl(identifiers: CollectionIndex, row: number, pages: RecordPages): string {
    const name = COLLECTION_CODES.get(servedAt(indexAt(identifiers, IDENTIFIERS.code), row, pages.baseUrl));
    const id = servedAt(indexAt(identifiers, IDENTIFIERS.record), row, pages.baseUrl);
    if (name === undefined || !/^\d+$/.test(id)) return '';
    const collection = this.#collections(name);
    const related = rowOfId(collection, Number(id));
    if (related < 0) return '';
    const uuid = servedAt(indexAt(collection, IDENTIFIERS.uuid), related, pages.baseUrl);
    return recordUrl(pages.template, pages.baseUrl, { collection: name, id: Number(id), uuid });
  }
}

function braced(entries: number, entry: TextListing['entry']): TextListing {
  return { entries, head: '{', separator: ',', tail: '}', entry };
}

function jsonMember(key: string, members: Parameters<typeof jsonObject>[0]): string {
  return `${jsonText(key)}:${jsonObject(members)}`;
}

function urlOf({ index, row }: FoundRecord, { baseUrl, template }: RecordPages): string {
  const { collection } = index;
  const id = collection.ids.dictionary.numbers![row]!;
  const uuid = servedAt(index.uuids, row, baseUrl);
  return recordUrl(template, baseUrl, { collection: collection.declaration.name, id, uuid });
}

function titleOf({ index, row }: FoundRecord, { baseUrl }: RecordPages): string {
  return servedAt(index.titles, row, baseUrl);
}
