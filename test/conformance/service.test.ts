// spec 1, 2.1, 2.2, 5 and 8: what the service does, its root view, its pages. Over a real socket, on the sample.
import { describe, expect, test } from 'vitest';
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import { row, spec } from './quotes.ts';
import { BASE_URL, servedSample, targetOf, type JsonObject } from './sample.ts';
import { arrayOf, integer, linkTo, objectOf, orNull, text, uuid } from './shapes.ts';

const sample = servedSample();

const NAMES: readonly string[] = (
  'acquisitions, bboxes, composites, computations, constraints, discoveryserviceids, dqconformanceresults, drsdatasets, ' +
  'identifiers, imagedetails, inspirethemes, instruments, iods, ipps, licenceclassifications, licences, ' +
  'migrationproperties, mpos, notes, observationcollections, observations, onlineresources, parties, phenomona, ' +
  'platforms, projects, referenceables, relatedobservationinfos, results, rpis, times, topiccategories, ' +
  'verticalextents, vocabularyterms'
).split(', ');

describe('spec 1, what the service does', () => {
  spec(
    'The service publishes a catalogue of records that describe observations (datasets) and the entities around them: acquisitions, computations, composites, phenomena, identifiers, instrument-platform pairs, migration properties and further collections.',
    async () => {
      for (const name of NAMES) expect((await sample.page(`/api/v3/${name}/?limit=1`)).count, name).toBeGreaterThan(0);
    },
  );

  spec('Every collection is read-only.', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      for (const name of NAMES) {
        expect((await sample.send({ method, target: `/api/v3/${name}/` })).status, `${method} ${name}`).toBe(405);
      }
    }
  });

  spec('A collection can be listed, and a single record can be fetched by its id.', async () => {
    for (const { name, idField } of COLLECTIONS) {
      for (const listed of (await sample.page(`/api/v3/${name}/?limit=3`)).results) {
        expect(await sample.record(`/api/v3/${name}/${String(listed[idField])}/`)).toEqual(listed);
      }
    }
  });

  spec('Documented methods are GET and HEAD.', async () => {
    for (const target of ['/api/v3/', '/api/v3/observations/', '/api/v2/observations.json']) {
      const get = await sample.get(target);
      const head = await sample.send({ method: 'HEAD', target });
      expect(head).toMatchObject({ status: 200, body: '' });
      expect(head.headers['content-length']).toBe(String(Buffer.byteLength(get.body)));
      expect(head.headers['content-type']).toBe(get.headers['content-type']);
    }
  });

  spec('Responses carry the header `Allow: GET, HEAD, OPTIONS`.', async () => {
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST']) {
      const { headers } = await sample.send({ method, target: '/api/v3/observations/' });
      expect(headers['allow'], method).toBe('GET, HEAD, OPTIONS');
    }
  });

  spec('Responses have status 200, header `Content-Type: application/json` and header `Vary: Accept`.', async () => {
    for (const target of ['/api/v3/', '/api/v3/observations/', '/api/v3/times.json', '/api/v3/phenomena/?format=api']) {
      const { status, headers } = await sample.get(target);
      expect({ status, type: headers['content-type'], vary: headers['vary'] }, target).toEqual({
        status: 200,
        type: 'application/json',
        vary: 'Accept, Accept-Encoding',
      });
    }
  });

  spec('Listings are paginated with limit and offset.', async () => {
    const { results } = await sample.page('/api/v3/observations/?limit=6');
    expect((await sample.page('/api/v3/observations/?limit=2&offset=3')).results).toEqual(results.slice(3, 5));
  });

  spec('Some collections accept filters.', async () => {
    const all = await sample.page('/api/v3/observations/?limit=1');
    const some = await sample.page('/api/v3/observations/?limit=1&publicationState=citable');
    expect(some.count).toBeGreaterThan(0);
    expect(some.count).toBeLessThan(all.count);
  });

  spec('No operation changes any record.', async () => {
    const before = await sample.get('/api/v3/observations/?limit=5');
    const [first] = (JSON.parse(before.body) as { results: JsonObject[] }).results;
    await sample.send({ method: 'DELETE', target: `/api/v3/observations/${String(first?.['ob_id'])}/` });
    await sample.send({ method: 'PATCH', target: `/api/v3/observations/${String(first?.['ob_id'])}/` });
    expect((await sample.get('/api/v3/observations/?limit=5')).body).toBe(before.body);
  });

  spec('No credential, header or scheme appears for any request.', async () => {
    const { status, headers } = await sample.get('/api/v3/observations/');
    expect(status).toBe(200);
    expect(headers['www-authenticate']).toBeUndefined();
    const authorized = await sample.get('/api/v3/observations/', { authorization: 'Basic YTpi' });
    expect(authorized.status).toBe(200);
  });
});

describe('spec 2.1, root view', () => {
  spec('A JSON object.', async () => {
    expect((await sample.get('/api/v3/')).body).toMatch(/^\{".*\}$/);
  });

  spec('Each key is a collection name.', async () => {
    for (const name of Object.keys(await sample.record('/api/v3/'))) {
      expect((await sample.get(`/api/v3/${name}/?limit=1`)).status, name).toBe(200);
    }
  });

  spec('Each value is a string URL of the form `{base_url}/api/v3/<collection>/?format=api`.', async () => {
    for (const [name, url] of Object.entries(await sample.record('/api/v3/'))) {
      expect(url).toBe(`${BASE_URL}/api/v3/${name}/?format=api`);
    }
  });

  spec(
    'Collection names: acquisitions, bboxes, composites, computations, constraints, discoveryserviceids, dqconformanceresults, drsdatasets, identifiers, imagedetails, inspirethemes, instruments, iods, ipps, licenceclassifications, licences, migrationproperties, mpos, notes, observationcollections, observations, onlineresources, parties, phenomona, platforms, projects, referenceables, relatedobservationinfos, results, rpis, times, topiccategories, verticalextents, vocabularyterms.',
    async () => {
      expect(Object.keys(await sample.record('/api/v3/'))).toEqual(NAMES);
    },
  );

  spec(
    'The root view of version v3 at `/api/v3/` returns one JSON object that maps each collection name to the URL of its listing.',
    async () => {
      for (const url of Object.values(await sample.record('/api/v3/'))) {
        expect(Object.keys(await sample.page(targetOf(url)))).toEqual(['count', 'next', 'previous', 'results']);
      }
    },
  );
});

describe('spec 2.2, page envelope', () => {
  const ENVELOPE = [
    row('count | integer | Total number of records in the collection, or of those matching the filters', integer),
    row(
      'next | string (absolute URL) | Link to the following page. It repeats the query, carries `limit=100`, and its offset is the current offset plus 100',
      orNull(text),
    ),
    row(
      'previous | string (absolute URL) | Link to the preceding page. Its offset is the current offset minus 100. When that offset would be 0, the offset parameter is omitted from the link',
      orNull(text),
    ),
    row('results | array of records | The records of the page, in the shape of the collection', arrayOf(objectOf({}))),
  ];
  test.each(ENVELOPE)('spec: $quote', async ({ field, shape }) => {
    for (const query of ['', '?offset=100', '?offset=200', '?status=completed&offset=100']) {
      const page = (await sample.page(`/api/v3/observations/${query}`)) as unknown as JsonObject;
      expect(shape(page[field]), query).toBe(true);
    }
  });

  spec('Total number of records in the collection, or of those matching the filters', async () => {
    const records = await sample.all('observations');
    expect((await sample.page('/api/v3/observations/')).count).toBe(records.length);
    const completed = records.filter(({ status }) => status === 'completed').length;
    expect((await sample.page('/api/v3/observations/?status=completed')).count).toBe(completed);
  });

  spec('It repeats the query, carries `limit=100`, and its offset is the current offset plus 100', async () => {
    const { next } = await sample.page('/api/v3/observations/?format=api&offset=100');
    expect(next).toBe(`${BASE_URL}/api/v3/observations/?format=api&limit=100&offset=200`);
  });

  spec('Its offset is the current offset minus 100.', async () => {
    const { previous } = await sample.page('/api/v3/observations/?format=api&offset=300');
    expect(previous).toBe(`${BASE_URL}/api/v3/observations/?format=api&limit=100&offset=200`);
  });

  spec('When that offset would be 0, the offset parameter is omitted from the link', async () => {
    const { previous } = await sample.page('/api/v3/observations/?format=api&offset=100');
    expect(previous).toBe(`${BASE_URL}/api/v3/observations/?format=api&limit=100`);
  });

  spec('Page size observed: 100 records per page (limit=100 in next and previous links).', async () => {
    const page = await sample.page('/api/v3/observations/?offset=100');
    expect(page.results).toHaveLength(100);
    expect(page.next).toContain('limit=100');
    expect(page.previous).toContain('limit=100');
  });

  spec('The next and previous links move the offset by exactly the page size.', async () => {
    const page = await sample.page('/api/v3/observations/?limit=7&offset=21');
    expect(page.next).toMatch(/\?limit=7&offset=28$/);
    expect(page.previous).toMatch(/\?limit=7&offset=14$/);
  });

  test('visits every record exactly once by next, and leads back by previous', async () => {
    const seen: unknown[] = [];
    let last = '/api/v3/observations/?limit=37';
    for (let next: string | null = BASE_URL + last; next !== null;) {
      last = targetOf(next);
      const page = await sample.page(last);
      seen.push(...page.results);
      next = page.next;
    }
    expect(seen).toEqual(await sample.all('observations'));
    const before = await sample.page(targetOf((await sample.page(last)).previous));
    expect(before.next).toBe(BASE_URL + last);
  });
});

describe('spec 2.2, common conventions', () => {
  spec('`ob_id` is an integer record id.', async () => {
    for (const { name, idField } of COLLECTIONS) {
      const ids = (await sample.all(name)).map((record) => record[idField]);
      expect(ids.every(integer), name).toBe(true);
      expect(new Set(ids).size, name).toBe(ids.length);
    }
  });

  spec('`uuid` is a string of 32 lowercase hexadecimal characters.', async () => {
    for (const name of NAMES) {
      for (const record of await sample.all(name)) if ('uuid' in record) expect(uuid(record['uuid']), name).toBe(true);
    }
  });

  spec(
    'Links to other records are absolute string URLs of the form `{base_url}/api/<version>/<collection>/<object_id>/?format=api`.',
    async () => {
      for (const name of NAMES) {
        const { body } = await sample.get(`/api/v3/${name}/?limit=1000000`);
        const { results } = JSON.parse(body) as { results: unknown };
        const urls = [...JSON.stringify(results).matchAll(/"(http:\/\/catalogue\.test[^"]*)"/g)].map(
          (match) => match[1],
        );
        for (const url of urls) expect(linkTo()(url), url).toBe(true);
      }
    },
  );

  spec('`relatedTo` is an object with `ob_id` (integer), `uuid` (string) and `short_code` (string).', async () => {
    for (const name of ['ipps', 'identifiers']) {
      for (const { relatedTo } of await sample.all(name)) {
        expect(relatedTo).toEqual({
          ob_id: expect.any(Number),
          uuid: expect.any(String),
          short_code: expect.any(String),
        });
      }
    }
  });
});
