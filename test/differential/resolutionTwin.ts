// The slow reference implementation of engine/resolve/, by plain loops over parsed records. Shares nothing with it;
// reads neither columns nor the declaration.

/** A record as parsed from JSON. */
export type PlainRecord = Readonly<Record<string, unknown>>;

/** The records of the collections that resolution uses, each in the order of ids. */
export interface PlainCatalogue {
  readonly observations: readonly PlainRecord[];
  readonly observationcollections: readonly PlainRecord[];
  readonly drsdatasets: readonly PlainRecord[];
  readonly identifiers: readonly PlainRecord[];
  readonly projects: readonly PlainRecord[];
}

/** Characters that end a line for some programs, in addition to the ASCII controls. */
const ENDS = /[\u007f-\u009f\u2028\u2029]/;

const CODES: Readonly<Record<string, keyof PlainCatalogue>> = {
  ob: 'observations',
  coll: 'observationcollections',
  proj: 'projects',
};
const STATES = ['citable', 'published'];

const served = (text: unknown, baseUrl: string): string =>
  typeof text === 'string' ? text.replace(/^\{base_url\}/, baseUrl) : '';
const json = (value: unknown): string =>
  JSON.stringify(value).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');

function pathOf(name: 'observations' | 'observationcollections', record: PlainRecord): string | undefined {
  const { result_field: result } = record;
  const holder = name === 'observations' ? (result as PlainRecord | undefined) : record;
  const path = holder?.['dataPath'];
  return typeof path === 'string' && /^\/[^/]/s.test(path) ? path : undefined;
}

const withoutSlash = (path: string): string => (path.endsWith('/') ? path.slice(0, -1) : path);

function versionOf({ version }: PlainRecord): string {
  return typeof version === 'number' || typeof version === 'string' ? `${version}` : '';
}

function rankOf(record: PlainRecord): number {
  const rank = STATES.indexOf(record['publicationState'] as string);
  return rank < 0 ? STATES.length : rank;
}

/** The reference over one catalogue, with the pages of records as a template makes them. */
export class ResolutionTwin {
  readonly #catalogue: PlainCatalogue;
  readonly #baseUrl: string;

  constructor(catalogue: PlainCatalogue, baseUrl: string) {
    this.#catalogue = catalogue;
    this.#baseUrl = baseUrl;
  }

  /** The response for a path. */
  placed(path: string): string {
    const segments = path.split('/').filter((segment) => segment !== '');
    const isNone = !path.startsWith('/') || segments.some((segment) => segment === '.' || segment === '..');
    for (let length = isNone ? 0 : segments.length; length > 0; length--) {
      const prefix = `/${segments.slice(0, length).join('/')}`;
      for (const [name, type] of [
        ['observations', 'Dataset'],
        ['observationcollections', 'Dataset Collection'],
      ] as const) {
        const record = this.#best(name, prefix);
        if (!record) continue;
        const title = served(record['title'], this.#baseUrl);
        return json({ url: this.#url(name, record), record_type: type, record_path: pathOf(name, record), title });
      }
    }
    return json({ url: '', record_type: '', record_path: '', title: '' });
  }

  /** The response with all paths. */
  allPlaced(): string {
    const members = this.#chosen().map((record) => {
      const title = served(record['title'], this.#baseUrl);
      const said = { url: this.#url('observations', record), record_type: 'Dataset', title };
      return `${json(pathOf('observations', record))}:${json(said)}`;
    });
    return `{${members.join(',')}}`;
  }

  /** The lines of all paths. */
  completeness(): string {
    const chosen = this.#chosen();
    const folders = new Set(chosen.map((record) => /^\/[^/]+/s.exec(pathOf('observations', record)!)![0]));
    const paths = this.#catalogue.observations.map((record) => pathOf('observations', record));
    // A folder is sorted by the paths below it, which may be the folder itself with a final slash.
    const keyOf = (folder: string): string =>
      paths.some((path) => path?.startsWith(`${folder}/`)) ? `${folder}/` : folder;
    const sorted = [...folders].sort((a, b) => Buffer.compare(Buffer.from(keyOf(a)), Buffer.from(keyOf(b))));
    const lines = [
      ...sorted.map((folder) => [folder, false] as const),
      ...chosen.map((record) => {
        const isComplete = rankOf(record) < STATES.length && record['status'] === 'completed';
        return [pathOf('observations', record)!, isComplete] as const;
      }),
    ];
    return lines
      .filter(([path]) => !Array.from(path).some((character) => character < ' ' || ENDS.test(character)))
      .map(([path, is]) => `${path} ${is ? 'True' : 'False'}\n`)
      .join('');
  }

  /** The dataset of an id. */
  dataset(id: string): string {
    const exact = this.#dataset(id, undefined);
    const versioned = /^(.+)\.v(\d+)$/s.exec(id);
    const isKnown = this.#catalogue.drsdatasets.some(({ drsId }) => drsId === id);
    const found = exact ?? (!isKnown && versioned ? this.#dataset(versioned[1]!, versioned[2]) : undefined);
    if (!found) return json({ directory: 'UNKNOWN', identifier: 'UNKNOWN', version: 'UNKNOWN' });
    const version = versionOf(found.record) || 'UNKNOWN';
    return json({ directory: found.directory, identifier: found.record['drsId'], version });
  }

  /** The datasets of a prefix. */
  datasets(prefix: string): string {
    const ids = new Set(this.#catalogue.drsdatasets.map(({ drsId }) => drsId).filter((id) => typeof id === 'string'));
    const wanted = [...ids].filter((id) => id.startsWith(prefix));
    wanted.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    const members = wanted.flatMap((id) => {
      const found = this.#dataset(id, undefined);
      return found ? [`${json(id)}:${json(found.directory)}`] : [];
    });
    return `{${members.join(',')}}`;
  }

  /** The record of an identifier's address. */
  identified(address: string): string {
    for (const { url, relatedTo, identifierType } of this.#catalogue.identifiers) {
      if (address === '' || served(url, this.#baseUrl) !== address) continue;
      const { short_code: code, ob_id: id } = (relatedTo ?? {}) as PlainRecord;
      const name = CODES[code as string];
      const record = name && this.#catalogue[name].find(({ ob_id: other }) => other === id);
      const page = record && this.#url(name, record);
      if (page) return json({ url: page, identifier: address, identifierType: identifierType ?? 'UNKNOWN' });
    }
    return json({ url: 'UNKNOWN', identifier: '', identifierType: 'UNKNOWN' });
  }

  #url(name: string, { ob_id: id }: PlainRecord): string {
    return `${this.#baseUrl}/browse/${name}/${String(id)}/`;
  }

  /** The record that answers a path: the first state, then the lowest id. */
  #best(name: 'observations' | 'observationcollections', path: string): PlainRecord | undefined {
    const same = this.#catalogue[name].filter((record) => {
      const stored = pathOf(name, record);
      return stored !== undefined && withoutSlash(stored) === path;
    });
    return same.sort((a, b) => rankOf(a) - rankOf(b) || Number(a['ob_id']) - Number(b['ob_id']))[0];
  }

  /** The record of each path, in the order of the paths as stored. */
  #chosen(): readonly PlainRecord[] {
    const paths = this.#catalogue.observations.map((record) => pathOf('observations', record));
    const different = new Set(paths.filter((path) => path !== undefined).map(withoutSlash));
    const records = [...different].map((path) => this.#best('observations', path)!);
    const key = (record: PlainRecord): Buffer => Buffer.from(pathOf('observations', record)!);
    return records.sort((a, b) => Buffer.compare(key(a), key(b)));
  }

  #dataset(
    id: string,
    version: string | undefined,
  ): { readonly record: PlainRecord; readonly directory: string } | undefined {
    const found = this.#catalogue.drsdatasets.flatMap((record) => {
      if (record['drsId'] !== id) return [];
      if (version !== undefined && String(record['version']) !== version) return [];
      const observation = /\/observations\/(\d+)\/\?format=api$/.exec(String(record['observation']))?.[1];
      const target = this.#catalogue.observations.find(({ ob_id: other }) => String(other) === observation);
      const directory = target && pathOf('observations', target);
      return directory === undefined ? [] : [{ record, directory }];
    });
    const latest = ({ record }: { record: PlainRecord }): number => Number(record['isLatest'] === true);
    // Numbers and texts of digits first, then other texts, then missing versions.
    const rank = (version: string): number => (version === '' ? 2 : /^\d+$/.test(version) ? 0 : 1);
    const higherFirst = (a: string, b: string): number => {
      if (rank(a) !== rank(b)) return rank(a) - rank(b);
      return rank(a) === 0 ? Number(b) - Number(a) : Buffer.compare(Buffer.from(b), Buffer.from(a));
    };
    return found.sort(
      (a, b) =>
        latest(b) - latest(a) ||
        higherFirst(versionOf(a.record), versionOf(b.record)) ||
        Number(a.record['ob_id']) - Number(b.record['ob_id']),
    )[0];
  }
}
