// Assumptions about paths, methods, negotiation and errors that the specification does not cover. Over a real socket,
// on the sample.
import { describe, expect } from 'vitest';
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import { assumption } from './quotes.ts';
import { BASE_URL, servedSample } from './sample.ts';

const sample = servedSample();
const LIST = '/api/v3/observations/';
const NOT_FOUND = '{"detail":"Not found."}';

/** The path of the first record of the sample's observations. */
async function firstRecordPath(): Promise<string> {
  const [first] = (await sample.page(`${LIST}?limit=1`)).results;
  return `${LIST}${String(first?.['ob_id'])}/`;
}

describe('paths', () => {
  assumption('A13', 'serves every collection and its records with a final slash and as .json', async () => {
    for (const { name, idField } of COLLECTIONS) {
      const [record] = (await sample.page(`/api/v3/${name}/?limit=1`)).results;
      for (const end of ['.json', '.json/']) {
        expect((await sample.page(`/api/v3/${name}${end}?limit=1`)).results).toEqual([record]);
      }
      for (const end of ['/', '.json']) {
        expect(await sample.record(`/api/v3/${name}/${String(record?.[idField])}${end}`)).toEqual(record);
      }
    }
  });

  assumption('A3', 'lists computations at ProcedureComputations, and serves their records there', async () => {
    const { count } = await sample.page('/api/v3/ProcedureComputations/?limit=1');
    expect(count).toBe((await sample.all('computations')).length);
    for (const computation of (await sample.all('computations')).slice(0, 5)) {
      const target = `/api/v3/ProcedureComputations/${String(computation['ob_id'])}/`;
      expect(await sample.record(target)).toEqual(computation);
    }
  });

  assumption('A13', 'serves every collection but migrationproperties in v2', async () => {
    for (const { name } of COLLECTIONS) {
      const status = name === 'migrationproperties' ? 404 : 200;
      expect((await sample.get(`/api/v2/${name}/?limit=1`)).status, name).toBe(status);
    }
  });

  assumption('A24', 'links to v2 in v2', async () => {
    for (const name of ['observations', 'ipps', 'acquisitions', 'composites', 'rpis']) {
      const { body } = await sample.get(`/api/v2/${name}/`);
      expect(body, name).not.toContain(`${BASE_URL}/api/v3/`);
      expect(body, name).toContain(`${BASE_URL}/api/v2/`);
    }
  });

  assumption('A13', 'has a root view in both versions', async () => {
    const root = await sample.record('/api/v2/');
    expect(Object.keys(root)).toHaveLength(33);
    expect(root['observations']).toBe(`${BASE_URL}/api/v2/observations/?format=api`);
  });

  assumption('A14', 'redirects a path without its final slash to a relative Location with the same query', async () => {
    const { status, headers } = await sample.get('/api/v3/observations?b=%2f&&a=+%zz');
    expect({ status, location: headers['location'] }).toEqual({
      status: 301,
      location: '/api/v3/observations/?b=%2f&&a=+%zz',
    });
    expect((await sample.get('/api/v2')).headers['location']).toBe('/api/v2/');
    expect((await sample.get('/api/v3/ipps/1')).headers['location']).toBe('/api/v3/ipps/1/');
  });

  assumption('A15', 'reads 01, +1 and 1%20 as record 1, and answers 404 to what is not an integer', async () => {
    const path = await firstRecordPath();
    const id = path.slice(LIST.length, -1);
    const { body } = await sample.get(path);
    for (const spelled of [`0${id}`, `+${id}`, `${id}%20`, `%20${id}`]) {
      expect((await sample.get(`${LIST}${spelled}/`)).body, spelled).toBe(body);
    }
    for (const spelled of ['x', `${id}x`, `${id}.0`, '1e3', '%zz']) {
      const answer = await sample.get(`${LIST}${spelled}/`);
      expect({ status: answer.status, body: answer.body }, spelled).toEqual({ status: 404, body: NOT_FOUND });
    }
    const { status, body: told } = await sample.get(`${LIST}/`);
    expect({ status, body: told }).toEqual({
      status: 404,
      body: `{"detail":"Not found. Did you mean \\"${LIST}\\"?"}`,
    });
  });

  assumption('A16', 'serves a JSON index at /', async () => {
    const { status, headers, body } = await sample.get('/');
    expect({ status, type: headers['content-type'] }).toEqual({ status: 200, type: 'application/json' });
    expect(body).toContain(`${BASE_URL}/api/v3/`);
  });

  assumption('A14', 'redirects only where the path with the slash exists', async () => {
    for (const path of ['/api/v3/nothing', '/api', '/nothing', '/api/v2/migrationproperties', '/api/v3/ipps/1/2']) {
      expect((await sample.get(path)).status, path).toBe(404);
    }
  });

  assumption('A17', 'decodes percents in each segment after the split', async () => {
    expect((await sample.get('/api/v3/observ%61tions/?limit=1')).status).toBe(200);
    expect((await sample.get('/api%2Fv3/observations/?limit=1')).status).toBe(404);
    expect((await sample.get('/api/v3/observations%2F')).status).toBe(404);
  });

  assumption('A17', 'refuses a raw #', async () => {
    for (const target of ['/api/v3/#observations', '/api/v3/observations/?title=#1']) {
      expect((await sample.get(target)).status, target).toBe(400);
    }
  });

  assumption('A17', 'serves the root view at /api/v3/.json', async () => {
    expect(await sample.record('/api/v3/.json')).toEqual(await sample.record('/api/v3/'));
  });
});

describe('responses', () => {
  assumption('A49', 'answers HEAD with the headers of GET and no body', async () => {
    for (const target of [LIST, '/api/v3/', '/api/v3/nothing/', '/api/v3/observations?a=1', `${LIST}?limit=1&x=1`]) {
      const get = await sample.get(target);
      const head = await sample.send({ method: 'HEAD', target });
      const { date: getDate, ...getHeaders } = get.headers;
      const { date: headDate, ...headHeaders } = head.headers;
      expect(Boolean(getDate)).toBe(Boolean(headDate));
      expect(headHeaders, target).toEqual(getHeaders);
      expect({ status: head.status, body: head.body }).toEqual({ status: get.status, body: '' });
    }
  });

  assumption('A49', 'answers OPTIONS with 200, Allow and a description of the list', async () => {
    const { status, headers, body } = await sample.send({ method: 'OPTIONS', target: LIST });
    expect({ status, allow: headers['allow'] }).toEqual({ status: 200, allow: 'GET, HEAD, OPTIONS' });
    expect(JSON.parse(body)).toMatchObject({ name: 'Observations List', description: '' });
  });

  assumption('A49', 'describes a record as the stock service does', async () => {
    const { body } = await sample.send({ method: 'OPTIONS', target: await firstRecordPath() });
    expect(JSON.parse(body)).toEqual({
      name: 'Observations Instance',
      description: '',
      renders: ['application/json', 'text/html'],
      parses: ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'],
    });
  });

  assumption('A26, A28', 'says in a 404 which path or format is near', async () => {
    for (const [target, near] of [
      ['/api/v3/observation/', 'Did you mean "/api/v3/observations/"?'],
      ['/api/v3/observations.cvs', 'Did you mean "/api/v3/observations.csv"?'],
      [`${LIST}?format=xml`, 'Formats are api, json, ndjson, csv and parquet.'],
      ['/api/v3/?format=csv', 'Formats are api and json.'],
    ] as const) {
      const { status, headers, body } = await sample.get(target);
      expect([status, JSON.parse(body), headers['content-type']], target).toEqual([
        404,
        { detail: `Not found. ${near}` },
        'application/json',
      ]);
    }
  });

  assumption('A50', 'answers 404 in JSON to unknown paths and records', async () => {
    for (const target of ['/nothing', '/api/v3/nothing/', '/api/v3/observations/999999999/']) {
      const { status, headers, body } = await sample.get(target);
      expect({ status, body, type: headers['content-type'] }, target).toEqual({
        status: 404,
        body: NOT_FOUND,
        type: 'application/json',
      });
    }
  });

  assumption('A50', 'answers 405 in JSON with Allow', async () => {
    for (const target of [LIST, '/', '/openapi.json']) {
      const { status, headers, body } = await sample.send({ method: 'POST', target });
      expect({ status, body, allow: headers['allow'] }, target).toEqual({
        status: 405,
        body: '{"detail":"Method \\"POST\\" not allowed."}',
        allow: 'GET, HEAD, OPTIONS',
      });
    }
    for (const page of ['/browse/', '/browse/observations/', '/docs/']) {
      const { status, headers } = await fetch(sample.url() + page, { method: 'POST' });
      expect([status, headers.get('allow')], page).toEqual([405, 'GET, HEAD, OPTIONS']);
    }
  });

  assumption('A50', 'answers 406 in JSON', async () => {
    for (const [target, accept] of [
      [LIST, 'text/html'],
      [await firstRecordPath(), 'text/csv'],
    ] as const) {
      const { status, body } = await sample.get(target, { accept });
      expect({ status, body }, target).toEqual({
        status: 406,
        body: '{"detail":"Could not satisfy the request Accept header."}',
      });
    }
  });

  assumption('A51', 'gives JSON without Accept, and for wildcards and application/json', async () => {
    for (const accept of [
      '*/*',
      'application/*',
      'application/json',
      'text/html, */*;q=0.8',
      'Application/Json;q=0.1',
    ]) {
      expect((await sample.get(`${LIST}?limit=1`, { accept })).headers['content-type'], accept).toBe(
        'application/json',
      );
    }
    expect((await sample.get(`${LIST}?limit=1`)).headers['content-type']).toBe('application/json');
  });

  assumption('A51', 'obeys a format or .json rather than Accept', async () => {
    for (const target of [`${LIST}?format=api`, `${LIST}?format=json`, '/api/v3/observations.json']) {
      expect((await sample.get(target, { accept: 'text/html' })).status, target).toBe(200);
    }
  });

  assumption('A50', 'answers 400 in JSON that names the parameter, without a stack or a path', async () => {
    const { status, headers, body } = await sample.get(`${LIST}?ob_id=x`);
    expect({ status, type: headers['content-type'] }).toEqual({ status: 400, type: 'application/json' });
    expect(body).toBe('{"ob_id":["Enter a whole number."]}');
  });

  assumption('A53', 'ignores Range', async () => {
    const whole = await sample.get(`${LIST}?limit=1`);
    const ranged = await sample.get(`${LIST}?limit=1`, { range: 'bytes=0-9' });
    expect({ status: ranged.status, body: ranged.body }).toEqual({ status: 200, body: whole.body });
  });
});
