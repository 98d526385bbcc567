// Assumptions about exports, reduced records, walks and facets. Over a real socket.
import { describe, expect } from 'vitest';
import { assumption } from './quotes.ts';
import { BASE_URL, servedSample, targetOf, type JsonObject } from './sample.ts';

const sample = servedSample();
const pinned = servedSample(['--base-url', BASE_URL, '--pin-walks']);
const LIST = '/api/v3/observations/';
const FILTER = 'status=completed&ordering=-title';
/** For requests that are repeated: every response is compared with the document. */
const FEW = 'title__icontains=sea&ordering=-title';

/** The cells of a CSV text by RFC 4180, in which every line ends with CR LF. */
function cellsOf(csv: string): readonly (readonly string[])[] {
  expect(csv.endsWith('\r\n')).toBe(true);
  const CELL = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g;
  const rows: string[][] = [[]];
  let end = 0;
  for (const { index, 0: whole, 1: quoted, 2: bare, 3: separator } of csv.matchAll(CELL)) {
    expect(index).toBe(end);
    end += whole.length;
    rows.at(-1)!.push(quoted?.replaceAll('""', '"') ?? bare!);
    if (separator === '\r\n') rows.push([]);
  }
  expect(end).toBe(csv.length);
  return rows.slice(0, -1);
}

/** The value of a cell, given the expected value: null is empty, texts are bare, everything else is JSON. */
function valueOf(cell: string | undefined, value: unknown): unknown {
  if (value === null || typeof value === 'string') return cell === '' && value === null ? null : cell;
  return JSON.parse(cell!);
}

describe('exports', () => {
  assumption(
    'A62, A63',
    'exports all rows of a filtered list as NDJSON and CSV, without an envelope, unless a limit is given',
    async () => {
      const { results } = await sample.page(`${LIST}?limit=1000000&${FILTER}`);
      const ndjson = await sample.get(`${LIST}?format=ndjson&${FILTER}`);
      expect(ndjson.headers['content-type']).toBe('application/x-ndjson');
      const lines = ndjson.body.split('\n');
      expect(lines.pop()).toBe('');
      expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(results);
      const csv = await sample.get(`${LIST}?format=csv&${FILTER}`);
      expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8');
      const [names = [], ...rows] = cellsOf(csv.body);
      expect(names).toEqual(Object.keys(results[0]!));
      const read = rows.map((row, i) => names.map((name, k) => [name, valueOf(row[k], results[i]?.[name])]));
      expect(read).toEqual(results.map((record) => Object.entries(record)));
      const two = await sample.get(`${LIST}?format=ndjson&limit=2&offset=3&${FILTER}`);
      expect(two.body).toBe(`${lines[3]}\n${lines[4]}\n`);
    },
  );

  assumption('A66', 'resumes an export after an id', async () => {
    const ids = (await sample.all('observations')).map(({ ob_id }) => Number(ob_id));
    const rest = await sample.get(`${LIST}?format=ndjson&fields=ob_id&after=${ids[9]}`);
    expect(rest.body).toBe(
      ids
        .slice(10)
        .map((id) => `{"ob_id":${id}}\n`)
        .join(''),
    );
    const csv = await sample.get(`${LIST}?format=csv&fields=ob_id&after=${ids.at(-2)}`);
    expect(csv.body).toBe(`ob_id\r\n${ids.at(-1)}\r\n`);
    expect((await sample.get(`${LIST}?format=csv&fields=ob_id&after=${ids.at(-1)}`)).body).toBe('ob_id\r\n');
  });

  assumption('A67', 'names the facets of an export as ignored, and refuses those that are wrong', async () => {
    for (const format of ['csv', 'ndjson']) {
      const plain = await sample.get(`${LIST}?format=${format}&limit=2`);
      const { status, headers, body } = await sample.get(`${LIST}?format=${format}&limit=2&facets=status`);
      expect([status, headers['x-ignored-params'], body]).toEqual([200, 'facets', plain.body]);
      expect((await sample.get(`${LIST}?format=${format}&facets=foo`)).status).toBe(400);
    }
  });

  assumption('A51', 'sends an export by format, whatever Accept names', async () => {
    for (const accept of ['text/html', 'application/json', 'image/png']) {
      for (const format of ['csv', 'ndjson']) {
        const { status } = await sample.get(`${LIST}?limit=1&format=${format}`, { accept });
        expect(status, `${format} ${accept}`).toBe(200);
      }
    }
    expect((await sample.get('/api/v3/?format=csv')).status).toBe(404);
  });
});

describe('headers of lists and exports', () => {
  assumption('A49', 'gives the count of a list or export in X-Total-Count, to HEAD too', async () => {
    for (const query of ['limit=2&status=completed', 'format=csv&limit=1', 'title__regex=a&limit=1', 'title=none']) {
      const { count } = await sample.page(`${LIST}?${query}&format=json`);
      for (const method of ['GET', 'HEAD']) {
        const { headers, body } = await sample.send({ method, target: `${LIST}?${query}` });
        expect(headers['x-total-count'], `${method} ${query}`).toBe(String(count));
        expect(headers['access-control-expose-headers']).toContain('X-Total-Count');
        expect(body === '').toBe(method === 'HEAD');
      }
    }
    for (const target of ['/', '/api/v3/', `${LIST}?title__foo=1`]) {
      expect((await sample.get(target)).headers['x-total-count'], target).toBeUndefined();
    }
  });

  assumption('A62', 'names the file of an export in Content-Disposition', async () => {
    const id = String((await sample.all('observations'))[0]!['ob_id']);
    for (const [target, name] of [
      [`${LIST}?format=csv&limit=1`, 'observations.csv'],
      ['/api/v3/instrument/?format=ndjson', undefined],
      ['/api/v3/instruments.ndjson', 'instruments.ndjson'],
      [`${LIST}${id}/?format=csv`, `observations-${id}.csv`],
      [`${LIST}?limit=1`, undefined],
    ] as const) {
      const { headers } = await sample.get(target);
      const value = name && `attachment; filename="${name}"`;
      expect(headers['content-disposition'], target).toBe(value);
    }
  });

  assumption('A51', 'chooses JSON or an export by Accept', async () => {
    const type = async (target: string, accept?: string): Promise<string | undefined> =>
      (await sample.get(target, accept === undefined ? {} : { accept })).headers['content-type'];
    for (const accept of [undefined, '*/*', 'application/*', 'application/json']) {
      expect(await type(`${LIST}?limit=1`, accept), accept).toBe('application/json');
    }
    for (const [accept, format] of [
      ['text/csv', 'csv'],
      ['application/x-ndjson', 'ndjson'],
    ] as const) {
      const named = await sample.get(`${LIST}?${FEW}&format=${format}`);
      // Once when the JSON of the same text is cached, and once before it is.
      for (const query of [FEW, `${FEW}&limit=1000000`]) {
        for (let times = 0; times < 20; times++) await sample.get(`${LIST}?${query}`);
        const answer = await sample.get(`${LIST}?${query}`, { accept });
        expect([answer.status, answer.headers['content-type'], answer.body]).toEqual([
          200,
          named.headers['content-type'],
          named.body,
        ]);
        expect(await type(`${LIST}?${query}`)).toBe('application/json');
        const { etag } = answer.headers;
        const again = await sample.get(`${LIST}?${query}`, { accept, 'if-none-match': etag! });
        const json = await sample.get(`${LIST}?${query}`, { 'if-none-match': etag! });
        expect([again.status, again.headers['etag'], json.status]).toEqual([304, etag, 200]);
      }
      expect((await sample.get(`/api/v3/observations.${format}?${FEW}`)).body).toBe(named.body);
    }
  });

  assumption('A27', 'refuses a wrong boolean, isnull, limit or offset in strict mode', async () => {
    for (const [query, key, message] of [
      ['nonGeographicFlag=yes', 'nonGeographicFlag', 'Enter true or false.'],
      ['title__isnull=no', 'title__isnull', 'Enter true or false.'],
      ['limit=ten', 'limit', 'Enter a whole number from 1.'],
      ['offset=-1', 'offset', 'Enter a whole number from 0.'],
    ] as const) {
      const { status, body } = await sample.get(`${LIST}?strict=1&${query}`);
      expect([status, JSON.parse(body)], query).toEqual([400, { [key]: [message] }]);
      expect((await sample.get(`${LIST}?${query}`)).status, query).toBe(200);
    }
  });

  assumption('A28', 'suggests a name with two exchanged letters, and names the wrong step of a path', async () => {
    const strict = await sample.get(`${LIST}?strict=1&tilte=a`);
    expect(JSON.parse(strict.body)).toEqual({ tilte: ['Unknown parameter. Did you mean "title"?'] });
    const wrong = await sample.get(`${LIST}?projects__tilte=a&strict=1`);
    const { projects__tilte: messages } = JSON.parse(wrong.body) as { projects__tilte: readonly string[] };
    expect(messages.slice(0, 2)).toEqual(['Unknown field "tilte".', 'Did you mean "projects__title"?']);
    expect(messages[2]).toMatch(/^Lookups that fit: exact, in, /);
  });
});

describe('reduced records', () => {
  assumption('A61', 'cuts records to the named keys in record order, and ignores unknown names', async () => {
    const records = await sample.all('observations');
    const cut = (record: JsonObject): string =>
      JSON.stringify(Object.fromEntries(Object.entries(record).filter(([key]) => ['title', 'projects'].includes(key))));
    const { body, headers } = await sample.get(`${LIST}?limit=1000000&fields=projects,nope,title`);
    const page = JSON.parse(body) as { results: readonly JsonObject[] };
    expect(page.results.map((record) => JSON.stringify(record))).toEqual(records.map(cut));
    expect(headers['x-ignored-params']).toBe('fields=nope');
    const single = `${LIST}${String(records[0]!['ob_id'])}/?fields=projects,title`;
    expect((await sample.get(single)).body).toBe(cut(records[0]!));
    expect((await sample.page(`${LIST}?limit=2&fields=nope`)).results).toEqual([{}, {}]);
  });

  assumption('A61, A64', 'cuts and orders the records of every collection', async () => {
    const names = Object.keys(await sample.record('/api/v3/'));
    for (const name of names) {
      const id = name === 'migrationproperties' ? 'id' : 'ob_id';
      const ids = (await sample.all(name)).map((record) => Number(record[id]));
      const { body, headers } = await sample.get(`/api/v3/${name}/?limit=1000000&fields=${id}&ordering=-${id}`);
      const page = JSON.parse(body) as { results: readonly JsonObject[] };
      expect(page.results, name).toEqual(ids.toReversed().map((one) => ({ [id]: one })));
      expect(headers['x-ignored-params'], name).toBeUndefined();
    }
  });
});

describe('walks', () => {
  assumption('A69', 'pins a walk to a generation, and answers 410 for a generation that is not served', async () => {
    const { headers } = await pinned.get(`${LIST}?limit=1`);
    const generation = headers['x-generation']!;
    for (const [query, skipped] of [
      ['limit=200&fields=ob_id&status=completed&ordering=-ob_id', 0],
      ['limit=300&after=0&strict=1', 0],
      ['limit=300&offset=1&facets=status', 1],
    ] as const) {
      const first = await pinned.page(`${LIST}?${query}`);
      let [next, seen] = [first.next, first.results.length];
      while (next !== null) {
        expect(new URL(next).searchParams.get('generation')).toBe(generation);
        const page = await pinned.page(targetOf(next));
        next = page.next;
        seen += page.results.length;
      }
      expect(seen, query).toBe(first.count - skipped);
    }
    for (const query of [
      '000000000000',
      '000000000000&title__foo=1',
      '000000000000&format=csv',
      'x&format=ndjson&limit=3',
      '0&after=1',
      `${generation}&generation=x`,
      `${generation}0`,
    ]) {
      const gone = await pinned.get(`${LIST}?generation=${query}`);
      expect([gone.status, JSON.parse(gone.body), gone.headers['cache-control']], query).toEqual([
        410,
        { detail: expect.stringContaining('generation'), generation },
        'no-store',
      ]);
    }
    expect((await pinned.get(`${LIST}?generation=x&format=xml`)).status).toBe(404);
    const unpinned = await sample.get(`${LIST}?limit=1&generation=x`);
    expect(unpinned.body).toContain('?generation=x&limit=1&offset=1"');
    expect(unpinned.headers['x-generation']).toBe(generation);
    for (const { status, headers: told } of [unpinned, await pinned.get('/api/v3/?generation=x')]) {
      expect([status, told['x-ignored-params']]).toEqual([200, 'generation']);
    }
    expect((await sample.get(`${LIST}?strict=1&generation=x`)).status).toBe(400);
  });
});

describe('facets', () => {
  assumption(
    'A67',
    'counts facets after the results, by count and then value, at most 100 values, null under the key null',
    async () => {
      const filter = 'title__icontains=a&nonGeographicFlag=false';
      const query = `limit=7&offset=7&${filter}&ordering=-doiPublishedTime,title&fields=title,ob_id&facets=doiPublishedTime,status`;
      const whole = await sample.page(`${LIST}?limit=1000000&${filter}&ordering=-doiPublishedTime,title`);
      const counted = (name: string): [string, number][] => {
        const values = whole.results.map((record) => String(record[name]));
        const counts = [...new Set(values)].map((value): [string, number] => [
          value,
          values.filter((one) => one === value).length,
        ]);
        const place = (value: string): string => (value === 'null' ? '\uffff' : value);
        return counts.sort((a, b) => b[1] - a[1] || (place(a[0]) < place(b[0]) ? -1 : 1)).slice(0, 100);
      };
      for (const version of ['v3', 'v2']) {
        const target = `/api/${version}/observations/?${query}`;
        const { body, headers } = await sample.get(target);
        const page = JSON.parse(body) as {
          results: readonly JsonObject[];
          count: number;
          facets: Record<string, object>;
        };
        expect(Object.keys(page)).toEqual(['count', 'next', 'previous', 'results', 'facets']);
        expect(page.count).toBe(whole.count);
        const cut = whole.results.slice(7, 14).map(({ ob_id, title }) => ({ ob_id, title }));
        expect(page.results).toEqual(cut);
        for (const name of ['status', 'doiPublishedTime']) {
          expect(Object.entries(page.facets[name]!), name).toEqual(counted(name));
        }
        const head = await sample.send({ method: 'HEAD', target });
        expect([head.status, head.headers['content-length'], head.headers['etag']]).toEqual([
          200,
          String(Buffer.byteLength(body)),
          headers['etag'],
        ]);
        const again = await sample.get(target, { 'if-none-match': `"x", W/${headers['etag']}` });
        expect([again.status, again.body]).toEqual([304, '']);
      }
    },
  );
});
