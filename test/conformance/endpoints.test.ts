// spec 4.1, 4.2, 7 and 9: paths in both spellings, payloads, query parameters, versions. Over a real socket, on the
// sample.
import { describe, expect } from 'vitest';
import { spec } from './quotes.ts';
import { BASE_URL, servedSample, targetOf } from './sample.ts';

const sample = servedSample();
const VERSIONS: readonly string[] = ['v2', 'v3'];

/**
 * Checks a row of the table of paths: list, JSON list and single record respond, the lists as the collection `name`.
 */
async function expectPaths(name: string, documented: string): Promise<void> {
  for (const version of VERSIONS) {
    const start = `/api/${version}/${documented}`;
    const list = await sample.page(`${start}/?limit=3`);
    expect(list.results).toEqual((await sample.page(`/api/${version}/${name}/?limit=3`)).results);
    expect((await sample.page(`${start}.json?limit=3`)).results).toEqual(list.results);
    const [first] = list.results;
    expect(await sample.record(`${start}/${String(first?.['ob_id'])}/`)).toEqual(first);
  }
}

describe('spec 4.1, paths', () => {
  spec('Every path is served under a version prefix, `/api/v2` or `/api/v3` (see part 9).', async () => {
    for (const prefix of ['/api/v2', '/api/v3']) {
      expect((await sample.get(`${prefix}/observations/?limit=1`)).status).toBe(200);
    }
    for (const prefix of ['', '/api', '/api/v1', '/v3', '/api/v4']) {
      expect((await sample.get(`${prefix}/observations/?limit=1`)).status, prefix).toBe(404);
    }
  });

  spec('The methods are GET and HEAD.', async () => {
    for (const target of ['/api/v3/identifier/', '/api/v2/phenomena.json']) {
      for (const method of ['GET', 'HEAD']) expect((await sample.send({ method, target })).status).toBe(200);
    }
  });

  spec('acquisitions | GET /acquisitions/ | GET /acquisitions.json | GET /acquisitions/<object_id>/', () =>
    expectPaths('acquisitions', 'acquisitions'),
  );
  spec('phenomena | GET /phenomena/ | GET /phenomena.json | GET /phenomena/<object_id>/', () =>
    expectPaths('phenomona', 'phenomena'),
  );
  spec(
    'computations | GET /ProcedureComputations/ | GET /ProcedureComputations.json | GET /ProcedureComputations/<object_id>/',
    () => expectPaths('computations', 'ProcedureComputations'),
  );
  spec(
    'composites | GET /ProcedureComputations/ | GET /ProcedureComputations.json | GET /ProcedureComputations/<object_id>/',
    async () => {
      const computations = new Set((await sample.all('computations')).map(({ ob_id }) => ob_id));
      const composite = (await sample.all('composites')).find(({ ob_id }) => !computations.has(ob_id));
      const target = `/api/v3/ProcedureComputations/${String(composite?.['ob_id'])}/`;
      expect(await sample.record(target)).toEqual(composite);
    },
  );
  spec('identifiers | GET /identifier/ | GET /identifier.json | GET /identifier/<object_id>/', () =>
    expectPaths('identifiers', 'identifier'),
  );
  spec('ipps | GET /ipps/ | GET /ipps.json | GET /ipps/<object_id>/', () => expectPaths('ipps', 'ipps'));
  spec('observations | GET /observations/ | GET /observations.json | GET /observations/<object_id>/', () =>
    expectPaths('observations', 'observations'),
  );
  spec('migrationproperties | GET /migrationproperties/', async () => {
    const { results } = await sample.page('/api/v3/migrationproperties/?limit=1');
    expect(Object.keys(results[0] ?? {})).toEqual(['id', 'key', 'value', 'modified', 'ob_ref']);
  });

  spec(
    'The root view and every example request use different spellings: `/phenomona/`, `/computations/`, `/composites/` and `/identifiers/`.',
    async () => {
      const documented = { phenomona: 'phenomena', computations: 'ProcedureComputations', identifiers: 'identifier' };
      for (const [name, path] of Object.entries(documented)) {
        expect((await sample.page(`/api/v3/${name}/`)).results).toEqual(
          (await sample.page(`/api/v3/${path}/`)).results,
        );
      }
      const [composite] = (await sample.page('/api/v3/composites/?limit=1')).results;
      expect(composite).toHaveProperty('computationComponent');
    },
  );

  spec(
    'For observations, the JSON list can also be obtained with the request header `Accept: application/json`.',
    async () => {
      const asked = await sample.get('/api/v3/observations/', { accept: 'application/json' });
      const path = await sample.page('/api/v3/observations.json');
      expect(asked.status).toBe(200);
      expect((JSON.parse(asked.body) as { results: unknown }).results).toEqual(path.results);
    },
  );

  spec('A list request returns the page envelope of 2.2.', async () => {
    for (const name of ['bboxes', 'observations', 'identifier.json']) {
      const page = await sample.record(`/api/v3/${name}${name.endsWith('.json') ? '' : '/'}?limit=1`);
      expect(Object.keys(page)).toEqual(['count', 'next', 'previous', 'results']);
    }
  });

  spec('A single-record request returns one record of the collection shape, without an envelope.', async () => {
    const [listed] = (await sample.page('/api/v3/observations/?limit=1')).results;
    expect(await sample.record(`/api/v3/observations/${String(listed?.['ob_id'])}/`)).toEqual(listed);
  });
});

describe('spec 4.2, query parameters', () => {
  spec(
    'format | string | The value api selects the browsable rendering. The body is still JSON in the shape described',
    async () => {
      const api = await sample.get('/api/v3/observations/?format=api&limit=2');
      expect(api.headers['content-type']).toBe('application/json');
      const plain = await sample.page('/api/v3/observations/?limit=2');
      expect((JSON.parse(api.body) as { results: unknown }).results).toEqual(plain.results);
    },
  );

  spec('limit | integer | Page size. The next and previous links carry limit=100', async () => {
    expect((await sample.page('/api/v3/observations/?limit=3')).results).toHaveLength(3);
    const page = await sample.page('/api/v3/observations/?offset=150');
    expect(page.next).toBe(`${BASE_URL}/api/v3/observations/?limit=100&offset=250`);
    expect(page.previous).toBe(`${BASE_URL}/api/v3/observations/?limit=100&offset=50`);
  });

  spec('offset | integer | Zero-based index of the first record of the page', async () => {
    const records = await sample.all('observations');
    for (const offset of [0, 1, 100, records.length - 1]) {
      const { results } = await sample.page(`/api/v3/observations/?limit=1&offset=${offset}`);
      expect(results).toEqual([records[offset]]);
    }
  });
});

describe('spec 7 and 9, status and versions', () => {
  spec('Only status 200 is shown, for successful listings.', async () => {
    for (const url of Object.values(await sample.record('/api/v3/'))) {
      expect((await sample.get(targetOf(url))).status).toBe(200);
    }
  });

  spec('The version is a path prefix: `/api/v2/` and `/api/v3/`.', async () => {
    for (const version of VERSIONS) {
      const { results, next } = await sample.page(`/api/${version}/observations/?limit=1`);
      expect(results[0]?.['timePeriod']).toMatch(new RegExp(`^${BASE_URL}/api/${version}/times/\\d+/`));
      expect(next).toContain(`/api/${version}/observations/`);
    }
  });

  spec('Version v3 serves the root view and the collections of 2.1.', async () => {
    const root = await sample.record('/api/v3/');
    expect(Object.keys(root)).toHaveLength(34);
    for (const url of Object.values(root)) expect((await sample.get(targetOf(url))).status).toBe(200);
  });

  spec(
    'Version v2 serves acquisitions, phenomena, computations, composites, identifiers, ipps and observations.',
    async () => {
      const names = ['acquisitions', 'phenomena', 'computations', 'composites', 'identifiers', 'ipps', 'observations'];
      for (const name of names) {
        const { count } = await sample.page(`/api/v2/${name}/?limit=1`);
        expect(count, name).toBe((await sample.page(`/api/v3/${name}/?limit=1`)).count);
      }
    },
  );

  spec('Version v3 serves migrationproperties.', async () => {
    expect((await sample.get('/api/v3/migrationproperties/?limit=1')).status).toBe(200);
    expect((await sample.get('/api/v2/migrationproperties/?limit=1')).status).toBe(404);
  });
});
