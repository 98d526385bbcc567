// The synthetic catalogue and the embedded sample: equal bytes for equal options, records of the declared shapes, links
// that resolve, and every deliberate edge case in the sample. The checker uses the declaration, not the generator.
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OperationError } from '../../../../data/operationError.ts';
import { generate, type GeneratedCatalogue, type GenerateOptions } from '../../../../data/synth/generate.ts';
import { SAMPLE_DIRECTORY, SAMPLE_OPTIONS } from '../../../../data/synth/sample.ts';
import { COLLECTIONS } from '../../../../engine/schema/catalogue.ts';
import {
  linkTargets,
  problemsOf,
  readCatalogue,
  type Catalogue,
  type Json,
  type JsonObject,
} from '../../../support/catalogueChecker.ts';
import type { Progress } from '../../../../data/progress.ts';

const MEDIUM = { observations: 2000, seed: 20 } as const;
const scratch = mkdtempSync(join(tmpdir(), 'synth-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

let directories = 0;

async function make(
  options: Omit<GenerateOptions, 'directory'>,
): Promise<{ made: GeneratedCatalogue; directory: string }> {
  const directory = join(scratch, `${directories++}`, 'nested');
  return { made: await generate({ ...options, directory }, () => undefined), directory };
}

function filesOf(directory: string): Map<string, Buffer> {
  return new Map(readdirSync(directory).map((name) => [name, readFileSync(join(directory, name))]));
}

function idOf(record: JsonObject, field = 'ob_id'): number {
  return record[field] as number;
}

describe('generate', () => {
  test('gives equal bytes for equal options, and others for another seed or size', async () => {
    const [first, second, otherSeed, otherSize] = await Promise.all([
      make({ observations: 40, seed: 7 }),
      make({ observations: 40, seed: 7 }),
      make({ observations: 40, seed: 8 }),
      make({ observations: 41, seed: 7 }),
    ]);
    expect(filesOf(first.directory)).toEqual(filesOf(second.directory));
    expect(first.made).toEqual(second.made);
    for (const other of [otherSeed, otherSize])
      expect(readFileSync(join(other.directory, 'observations.ndjson'))).not.toEqual(
        readFileSync(join(first.directory, 'observations.ndjson')),
      );
  });

  test('uses the high half of a large seed', async () => {
    const [low, high] = await Promise.all([
      make({ observations: 20, seed: 3 }),
      make({ observations: 20, seed: 3 + 2 ** 32 }),
    ]);
    expect(filesOf(low.directory).get('projects.ndjson')).not.toEqual(filesOf(high.directory).get('projects.ndjson'));
  });

  test('gives every collection of the root view a file, and records from 20 observations on', async () => {
    for (const seed of [0, 1, Number.MAX_SAFE_INTEGER]) {
      const { made, directory } = await make({ observations: 20, seed });
      expect(Object.keys(made.collections)).toEqual(COLLECTIONS.map(({ name }) => name));
      expect(Object.entries(made.collections).filter(([, count]) => count === 0)).toEqual([]);
      expect(readdirSync(directory).toSorted()).toEqual(
        ['MANIFEST.json', ...COLLECTIONS.map(({ name }) => `${name}.ndjson`)].toSorted(),
      );
    }
  });

  test('makes a well-formed catalogue of one observation', async () => {
    const { made, directory } = await make({ observations: 1, seed: 1 });
    expect(made.collections['observations']).toBe(1);
    expect(problemsOf(readCatalogue(directory))).toEqual([]);
  });

  test('writes gzip files that unpack to the plain ones, and replaces them', async () => {
    const { directory } = await make({ observations: 30, seed: 5 });
    const plain = filesOf(directory);
    await generate({ observations: 30, seed: 5, directory, gzip: true }, () => undefined);
    const packed = filesOf(directory);
    expect([...packed.keys()].filter((name) => name.endsWith('.ndjson'))).toEqual([]);
    for (const { name } of COLLECTIONS)
      expect(gunzipSync(packed.get(`${name}.ndjson.gz`)!)).toEqual(plain.get(`${name}.ndjson`));
  });

  test('writes the options, the counts and the sums of the files into the manifest, and no time', async () => {
    for (const gzip of [false, true]) {
      const { made, directory } = await make({ observations: 25, seed: 9, gzip });
      const files = filesOf(directory);
      const manifest = JSON.parse(String(files.get('MANIFEST.json')));
      files.delete('MANIFEST.json');
      expect(Object.keys(manifest)).toEqual(['created', 'generator', 'seed', 'observations', 'counts', 'sha256']);
      expect(manifest).toMatchObject({ created: '2024-01-01T00:00:00Z', seed: 9, observations: 25 });
      expect(manifest.counts).toEqual(made.collections);
      const sums = [...files].map(([name, bytes]) => [name, createHash('sha256').update(bytes).digest('hex')]);
      expect(manifest.sha256).toEqual(Object.fromEntries(sums));
      expect(made.bytes).toBe([...files.values()].reduce((sum, bytes) => sum + bytes.length, 0));
    }
  });

  test('ends the progress of each collection at its total', async () => {
    const last = new Map<string, Progress>();
    const directory = join(scratch, 'progress');
    await generate({ observations: 20, seed: 1, directory }, (step) => last.set(step.phase, step));
    expect([...last.keys()]).toEqual(COLLECTIONS.map(({ name }) => `writing ${name}`));
    for (const step of last.values()) expect(step.done).toBe(step.total);
  });

  test.each([
    { observations: 0, seed: 1 },
    { observations: 1.5, seed: 1 },
    { observations: Number.POSITIVE_INFINITY, seed: 1 },
    { observations: 20, seed: -1 },
    { observations: 20, seed: 0.5 },
    { observations: 20, seed: 2 ** 53 },
  ])('refuses options out of range: %j', async (options) => {
    await expect(make(options)).rejects.toMatchObject({ code: 'usage' });
  });

  test('reports a directory that cannot be made as a file error that names it', async () => {
    const file = join(scratch, 'a-file');
    writeFileSync(file, '');
    const attempt = generate({ observations: 20, seed: 1, directory: join(file, 'below') }, () => undefined);
    await expect(attempt).rejects.toBeInstanceOf(OperationError);
    await expect(attempt).rejects.toMatchObject({ code: 'file', message: expect.stringContaining('a-file') });
  });
});

describe.each([
  { name: 'a catalogue of 2,000 observations', sample: false },
  { name: 'the sample', sample: true },
])('$name', ({ sample }) => {
  let catalogue: Catalogue;
  beforeAll(async () => {
    catalogue = readCatalogue(sample ? SAMPLE_DIRECTORY : (await make(MEDIUM)).directory);
  });
  const recordsOf = (name: string): readonly JsonObject[] => catalogue.records.get(name)!;

  test('has records of the declared fields, types and order, with the base URL at the start of links only', () => {
    expect(problemsOf(catalogue).slice(0, 20)).toEqual([]);
  });

  test('has records of open collections in the public shapes', () => {
    for (const [name, keys] of Object.entries(PUBLIC_SHAPES))
      for (const record of recordsOf(name)) expect(Object.keys(record).join(' ')).toBe(keys);
  });

  test('has ascending ids with gaps, and uuids that occur once', () => {
    for (const { name, idField } of COLLECTIONS) {
      const ids = recordsOf(name).map((record) => record[idField] as number);
      expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b));
      if (ids.length > 31) expect(ids.at(-1)! - ids[0]!).toBeGreaterThanOrEqual(ids.length);
      if (name === 'referenceables') continue;
      const uuids = recordsOf(name).flatMap((record) => (typeof record['uuid'] === 'string' ? [record['uuid']] : []));
      expect(new Set(uuids).size).toBe(uuids.length);
      for (const uuid of uuids) expect(uuid).toMatch(/^[0-9a-f]{32}$/);
    }
  });

  test('has links that resolve, except the few that dangle on purpose', () => {
    const known = new Set(
      COLLECTIONS.flatMap(({ name, idField }) => recordsOf(name).map((r) => `${name}/${idOf(r, idField)}`)),
    );
    const targets = [...catalogue.records.values()].flat().flatMap(linkTargets);
    const dangling = targets.filter((target) => !known.has(target));
    expect(new Set(dangling.map((target) => target.split('/')[1]))).toEqual(new Set(['999999999999']));
    expect(new Set(dangling.map((target) => target.split('/')[0]))).toEqual(
      new Set(['bboxes', 'observations', 'projects', 'times']),
    );
    expect(dangling.length).toBeLessThan(targets.length / 200);
  });

  test('has relatedTo objects and referenceables that agree with the records they name', () => {
    for (const related of [...catalogue.records.values()].flat().flatMap(relatedObjects)) {
      const target = recordsOf(COLLECTION_OF[related['short_code'] as string]!).find(
        (record) => record['ob_id'] === related['ob_id'],
      );
      expect(target, JSON.stringify(related)).toBeDefined();
      if (target!['uuid'] !== undefined) expect(target!['uuid']).toBe(related['uuid']);
    }
    const uuids = new Set(['observations', 'projects'].flatMap((name) => recordsOf(name).map((r) => r['uuid'])));
    const referenced = recordsOf('referenceables').filter((r) => ['ob', 'proj'].includes(r['short_code'] as string));
    expect(new Set(referenced.map((record) => record['uuid']))).toEqual(uuids);
  });

  test('has the same text for a record wherever it appears', () => {
    const pairs = catalogue.lines.get('acquisitions')!.join('\n');
    for (const line of catalogue.lines.get('ipps')!) expect(pairs.includes(line)).toBe(true);
    const parts = new Set([...catalogue.lines.get('computations')!, ...catalogue.lines.get('acquisitions')!]);
    for (const line of catalogue.lines.get('composites')!) {
      const composite = JSON.parse(line) as { computationComponent: Json[]; acquisitionComponent: Json[] };
      const components = [...composite.computationComponent, ...composite.acquisitionComponent];
      expect(components.length).toBeGreaterThanOrEqual(2);
      for (const component of components) expect(parts.has(escaped(JSON.stringify(component)))).toBe(true);
    }
  });

  test('has identifiers, results and members that agree with their observations', () => {
    const results = new Set(recordsOf('results').map((result) => result['dataPath']));
    const identifiers = new Map(recordsOf('identifiers').map((record) => [`identifiers/${idOf(record)}`, record]));
    for (const observation of recordsOf('observations')) {
      expect(results).toContain((observation['result_field'] as JsonObject)['dataPath']);
      for (const link of linkTargets(observation['identifier_set']!))
        expect((identifiers.get(link)!['relatedTo'] as JsonObject)['ob_id']).toBe(observation['ob_id']);
    }
    const members = recordsOf('observationcollections').flatMap((r) =>
      linkTargets(r['member']!).map((target) => `${target.split('/')[1]}>${idOf(r)}`),
    );
    const memberships = recordsOf('observations').flatMap((r) =>
      linkTargets(r['observationcollection_set']!).map((target) => `${idOf(r)}>${target.split('/')[1]}`),
    );
    expect(members.filter((member) => !memberships.includes(member))).toEqual([]);
  });

  test('has an observation of 3 to 4 kB on average, and about 5 kB for each with all linked records', () => {
    const size = (name: string): number =>
      catalogue.lines.get(name)!.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
    const all = COLLECTIONS.reduce((sum, { name }) => sum + size(name), 0);
    const count = recordsOf('observations').length;
    expect(size('observations') / count).toBeGreaterThan(3000);
    expect(size('observations') / count).toBeLessThan(4000);
    expect(all / count).toBeGreaterThan(4500);
    expect(all / count).toBeLessThan(5300);
  });
});

describe('the sample', () => {
  const catalogue = readCatalogue(SAMPLE_DIRECTORY);
  const text = [...catalogue.lines.values()].flat().join('\n');
  const observations = catalogue.records.get('observations')!;
  const phenomena = catalogue.records.get('phenomona')! as { terms: JsonObject[]; names: Json[] }[];
  const byLink = (name: string): Map<string, JsonObject> =>
    new Map(catalogue.records.get(name)!.map((record) => [`${name}/${idOf(record)}`, record]));

  test('is what `node data/synth/sample.ts` makes', async () => {
    const { directory } = await make(SAMPLE_OPTIONS);
    expect(filesOf(SAMPLE_DIRECTORY)).toEqual(filesOf(directory));
  });

  test('has 500 observations in under 3 MB', () => {
    const bytes = [...filesOf(SAMPLE_DIRECTORY).values()].reduce((sum, file) => sum + file.length, 0);
    expect(observations.length).toBe(500);
    expect(bytes).toBeLessThan(3_000_000);
  });

  test.each([
    ['letters with marks', 'Ångström'],
    ['combining marks', 'A\u030angstro\u0308m'],
    ['CJK', '大気エアロゾル観測'],
    ['right-to-left text', 'قياسات'],
    ['characters beyond the BMP', '𝛼 𠜎'],
    ['joined emoji', '👩🏽\u200d🔬'],
    ['line breaks of each kind', 'one\\nline two\\r\\nline three\\rline'],
    ['tabs', '\\ttabs\\t'],
    ['quotes', 'said \\"calibrated\\"'],
    ['backslashes', 'C:\\\\instrument\\\\new\\\\u0041 and a final backslash \\\\"'],
    ['line and paragraph separators, escaped', 'before\\u2028line separator, paragraph\\u2029separator'],
    ['control characters, escaped', '\\u0001 \\b \\f \\u000b \\u001b \\u001f'],
    ['DEL and C1 controls, as they are', '\u007f, C1 \u0085 \u009f'],
    ['HTML in migration properties', '<div class=\\"content\\">\\r\\n<h2>'],
    ['empty content', '"value":"Empty content"'],
    ['an integer beyond 2^53', '"volume":9007199254740993'],
    ['a negative zero', ':-0.0,'],
    ['trailing zeros', ':-12.5000,'],
    ['an exponent', ':1.5E+1,'],
    ['more digits than a double has', ':51.123456789012345678901}'],
    ['blanks around a text', '"  blanks before'],
    ['a title that is a property name of every object', '__proto__'],
    ['noncharacters', '\uffff and the last code point \u{10ffff}'],
  ])('has %s', (_, expected) => {
    expect(text.includes(expected)).toBe(true);
  });

  test('has no raw control character, separator or byte order mark at the start of a file', () => {
    // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
    expect(text.replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u2028\u2029]/);
    for (const lines of catalogue.lines.values()) expect(lines[0]!.startsWith('{')).toBe(true);
  });

  test('has every rare shape of an observation', () => {
    const some = (claim: (o: JsonObject) => boolean): void => expect(observations.some(claim)).toBe(true);
    const isEmpty = (value: Json | undefined): boolean => Array.isArray(value) && value.length === 0;
    some((o) => isEmpty(o['identifier_set']) && !isEmpty(o['phenomena']));
    for (const name of ['phenomena', 'projects', 'responsiblepartyinfo_set', 'permissions', 'discoveryKeywords'])
      some((o) => isEmpty(o[name]));
    for (const name of ['title', 'abstract', 'keywords', 'dataLineage']) some((o) => o[name] === '');
    for (const process of ['procedureAcquisition', 'procedureCompositeProcess', 'procedureComputation'])
      some((o) => o[process] !== null);
    some((o) => PROCESSES.every((process) => o[process] === null));
    some((o) => o['removedDataTime'] !== null && o['removedDataReason'] !== '');
    some((o) =>
      (o['permissions'] as JsonObject[]).some((p) => p['accessRoles'] === null && p['useLimitation'] === null),
    );
    some((o) => (o['permissions'] as JsonObject[]).length === 2);
    some((o) => !isEmpty((o['result_field'] as JsonObject)['oldDataPath']));
    some((o) => (o['abstract'] as string).length > 6000);
    some((o) => o['nonGeographicFlag'] === true);
  });

  test('has phenomena with one term, without names, with an empty value, and terms that share one id', () => {
    expect(phenomena.some(({ terms }) => terms.length === 1)).toBe(true);
    expect(phenomena.some(({ names }) => names.length === 0)).toBe(true);
    const uses = new Map<Json, Set<string>>();
    for (const { terms } of phenomena)
      for (const { ob_id, ...term } of terms)
        uses.set(ob_id!, (uses.get(ob_id!) ?? new Set()).add(JSON.stringify(term)));
    expect([...uses.values()].every((meanings) => meanings.size === 1)).toBe(true);
    const terms = phenomena.flatMap((phenomenon) => phenomenon.terms);
    expect(terms.length).toBeGreaterThan(uses.size);
    expect(terms.some((term) => term['value'] === '')).toBe(true);
    expect(new Set(phenomena.map((phenomenon) => phenomenon.terms[0]!['label'])).size).toBeGreaterThan(2);
  });

  test('has no NUL, which PostgreSQL rejects in texts', () => {
    expect(text).not.toContain('\\u0000');
  });

  test('has download links and DOIs of most observations', () => {
    const owners = (name: string, claim: (record: JsonObject) => boolean): Set<Json> =>
      new Set(
        catalogue.records
          .get(name)!
          .filter(claim)
          .map((record) => record['relatedTo'] as JsonObject)
          .filter((related) => related['short_code'] === 'ob')
          .map((related) => related['ob_id']!),
      );
    const downloads = owners('onlineresources', (resource) => resource['function'] === 'download');
    const dois = owners('identifiers', (identifier) => identifier['identifierType'] === 'doi');
    for (const part of [downloads, dois]) expect(part.size).toBeGreaterThan(observations.length / 2);
    for (const o of observations) if (dois.has(o['ob_id']!)) expect(o['doiPublishedTime']).not.toBeNull();
  });

  test('has authors, publishers and principal investigators of observations and projects', () => {
    const rpis = byLink('rpis');
    const parties = byLink('parties');
    const roles = (o: JsonObject): readonly Json[] =>
      linkTargets(o['responsiblepartyinfo_set']!).map((link) => rpis.get(link)!['role']!);
    for (const role of ['author', 'publisher', 'principal_investigator'])
      expect(observations.filter((o) => roles(o).includes(role)).length).toBeGreaterThan(observations.length / 2);
    const projects = [...rpis.values()].filter((rpi) => (rpi['relatedTo'] as JsonObject)['short_code'] === 'proj');
    expect(projects.map((rpi) => rpi['role'])).toContain('principal_investigator');
    for (const rpi of rpis.values()) {
      const type = { author: 'individual', publisher: 'organisation' }[rpi['role'] as string];
      if (type !== undefined) expect(parties.get(linkTargets(rpi['party']!)[0]!)!['partyType']).toBe(type);
    }
  });

  test('has boxes on all sides of the map and across the date line, and periods without an end', () => {
    const boxes = catalogue.records.get('bboxes')! as Record<string, number>[];
    const [west, east] = ['westBoundLongitude', 'eastBoundLongitude'];
    expect(boxes.some((box) => box[west]! > box[east]!)).toBe(true);
    for (const sign of [-1, 1])
      for (const side of [east, 'southBoundLatitude'])
        expect(boxes.filter((box) => sign * box[side]! > 0).length).toBeGreaterThan(boxes.length / 5);
    expect(catalogue.records.get('times')!.filter((time) => time['endTime'] === null).length).toBeGreaterThan(10);
  });

  test('has the story: soil moisture in Iceland in 2003, with files and a citation', () => {
    const linked = (o: JsonObject, name: string, field: string): readonly JsonObject[] =>
      linkTargets(o[field]!).map((link) => byLink(name).get(link)!);
    const story = observations.filter((o) => {
      const box = linked(o, 'bboxes', 'geographicExtent')[0] as Record<string, number> | undefined;
      const isNear =
        box !== undefined &&
        box['westBoundLongitude']! >= -25 &&
        box['eastBoundLongitude']! <= -10 &&
        box['southBoundLatitude']! >= 60 &&
        box['northBoundLatitude']! <= 68;
      const [period] = linked(o, 'times', 'timePeriod');
      const is2003 = [period?.['startTime'], period?.['endTime']].every((time) =>
        (time as string | undefined)?.startsWith('2003-'),
      );
      const isNamed = ['title', 'abstract'].every((name) => /soil moisture.*Iceland/s.test(o[name] as string));
      return isNear && is2003 && isNamed;
    });
    expect(story.length).toBeGreaterThanOrEqual(3);
    for (const o of story.slice(0, 3)) {
      const related = (record: JsonObject): boolean => (record['relatedTo'] as JsonObject)['ob_id'] === o['ob_id'];
      const files = catalogue.records.get('onlineresources')!.filter(related);
      expect(files.map((file) => file['function'])).toContain('download');
      expect(linked(o, 'identifiers', 'identifier_set').map((one) => one['identifierType'])).toContain('doi');
      const roles = linked(o, 'rpis', 'responsiblepartyinfo_set').map((rpi) => rpi['role']);
      for (const role of ['author', 'publisher', 'principal_investigator']) expect(roles).toContain(role);
      const [phenomenon] = linked(o, 'phenomona', 'phenomena') as unknown as [
        { names: JsonObject[]; terms: JsonObject[] },
      ];
      expect(phenomenon.names[0]!['name']).toContain('soil moisture');
      expect(phenomenon.terms.find((term) => term['label'] === 'units')!['value']).toBe('kg m-2');
      expect(linked(o, 'projects', 'projects').length).toBe(1);
      const [acquisition] = linked(o, 'acquisitions', 'procedureAcquisition');
      const [pair] = acquisition!['instrumentplatformpair_set'] as JsonObject[];
      expect(linked(pair!, 'instruments', 'instrument')[0]!['title']).toContain('soil moisture');
      expect(linked(pair!, 'platforms', 'platform')[0]!['title']).toContain('Iceland');
    }
  });

  test('has titles that share long prefixes, and mostly the common states', () => {
    const prefixes = new Set(observations.map((o) => (o['title'] as string).slice(0, 40)));
    expect(prefixes.size).toBeLessThan(observations.length / 4);
    const share = (name: string, ...values: string[]): number =>
      observations.filter((o) => values.includes(o[name] as string)).length / observations.length;
    expect(share('status', 'completed')).toBeGreaterThan(0.7);
    expect(share('publicationState', 'published', 'citable')).toBeGreaterThan(0.7);
    expect(share('updateFrequency', 'notPlanned')).toBeGreaterThan(0.7);
  });
});

const PROCESSES = ['procedureAcquisition', 'procedureCompositeProcess', 'procedureComputation'];

const COLLECTION_OF: Readonly<Record<string, string>> = {
  acq: 'acquisitions',
  cmppr: 'composites',
  coll: 'observationcollections',
  comp: 'computations',
  instr: 'instruments',
  ob: 'observations',
  plat: 'platforms',
  proj: 'projects',
};

const PUBLIC_SHAPES: Readonly<Record<string, string>> = {
  bboxes: 'ob_id bboxName eastBoundLongitude westBoundLongitude southBoundLatitude northBoundLatitude',
  times: 'ob_id startTime endTime',
  verticalextents: 'ob_id highestLevelBound lowestLevelBound units',
  results:
    'ob_id uuid short_code curationCategory dataPath numberOfFiles volume fileFormat storageStatus storageLocation oldDataPath',
  platforms: 'ob_id uuid short_code title abstract keywords platformType location',
  instruments: 'ob_id uuid short_code title abstract keywords instrumentType',
  projects: 'ob_id uuid short_code title abstract publicationState keywords status',
  observationcollections:
    'ob_id uuid short_code title abstract keywords publicationState dataPublishedTime doiPublishedTime member',
  rpis: 'ob_id priority role party relatedTo',
  parties: 'ob_id firstName lastName partyType',
  referenceables: 'ob_id uuid short_code',
  relatedobservationinfos: 'ob_id relationType subjectObservation objectObservation',
  licences: 'ob_id licenceURL licenceClassifications',
  vocabularyterms: 'ob_id vocabService uri resolvedTerm',
};

function relatedObjects(record: JsonObject): readonly JsonObject[] {
  const related = record['relatedTo'];
  return related !== undefined && related !== null ? [related as JsonObject] : [];
}

function escaped(json: string): string {
  return json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}
