// What the design decides of paths, methods, negotiation and errors where the specification is silent.
// Over a real socket, on the sample.
import { describe, expect } from 'vitest';
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import { design } from './quotes.ts';
import { BASE_URL, servedSample } from './sample.ts';

const sample = servedSample();
const LIST = '/api/v3/observations/';
const NOT_FOUND = '{"detail":"Not found."}';

/** The path of the first record of the sample's observations. */
async function firstRecordPath(): Promise<string> {
  const [first] = (await sample.page(`${LIST}?limit=1`)).results;
  return `${LIST}${String(first?.['ob_id'])}/`;
}

describe('design, paths', () => {
  design(
    'Every collection at `/api/v3/<name>/`, `/api/v3/<name>.json`, `/api/v3/<name>.json/`, `/api/v3/<name>/<id>/`, `/api/v3/<name>/<id>.json`',
    async () => {
      for (const { name, idField } of COLLECTIONS) {
        const [record] = (await sample.page(`/api/v3/${name}/?limit=1`)).results;
        for (const end of ['.json', '.json/']) {
          expect((await sample.page(`/api/v3/${name}${end}?limit=1`)).results).toEqual([record]);
        }
        for (const end of ['/', '.json']) {
          expect(await sample.record(`/api/v3/${name}/${String(record?.[idField])}${end}`)).toEqual(record);
        }
      }
    },
  );

  design(
    '`/ProcedureComputations/` lists computations; `/ProcedureComputations/<id>/` answers a computation, or else the composite of that id.',
    async () => {
      const { count } = await sample.page('/api/v3/ProcedureComputations/?limit=1');
      expect(count).toBe((await sample.all('computations')).length);
      for (const computation of (await sample.all('computations')).slice(0, 5)) {
        const target = `/api/v3/ProcedureComputations/${String(computation['ob_id'])}/`;
        expect(await sample.record(target)).toEqual(computation);
      }
    },
  );

  design('v2 serves every collection but migrationproperties', async () => {
    for (const { name } of COLLECTIONS) {
      const status = name === 'migrationproperties' ? 404 : 200;
      expect((await sample.get(`/api/v2/${name}/?limit=1`)).status, name).toBe(status);
    }
  });

  design('Links in a v2 answer say v2.', async () => {
    for (const name of ['observations', 'ipps', 'acquisitions', 'composites', 'rpis']) {
      const { body } = await sample.get(`/api/v2/${name}/`);
      expect(body, name).not.toContain(`${BASE_URL}/api/v3/`);
      expect(body, name).toContain(`${BASE_URL}/api/v2/`);
    }
  });

  design('Both versions have a root view.', async () => {
    const root = await sample.record('/api/v2/');
    expect(Object.keys(root)).toHaveLength(33);
    expect(root['observations']).toBe(`${BASE_URL}/api/v2/observations/?format=api`);
  });

  design('Without the final slash: 301 with a relative Location', async () => {
    const { status, headers } = await sample.get('/api/v3/observations?b=%2f&&a=+%zz');
    expect({ status, location: headers['location'] }).toEqual({
      status: 301,
      location: '/api/v3/observations/?b=%2f&&a=+%zz',
    });
    expect((await sample.get('/api/v2')).headers['location']).toBe('/api/v2/');
    expect((await sample.get('/api/v3/ipps/1')).headers['location']).toBe('/api/v3/ipps/1/');
  });

  design('Ids `01`, `+1`, `1%20` serve record 1; anything else that is no integer: 404.', async () => {
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

  design('`/` answers a small JSON index', async () => {
    const { status, headers, body } = await sample.get('/');
    expect({ status, type: headers['content-type'] }).toEqual({ status: 200, type: 'application/json' });
    expect(body).toContain(`${BASE_URL}/api/v3/`);
  });

  design('301 only where the path with the slash routes.', async () => {
    for (const path of ['/api/v3/nothing', '/api', '/nothing', '/api/v2/migrationproperties', '/api/v3/ipps/1/2']) {
      expect((await sample.get(path)).status, path).toBe(404);
    }
  });

  design('Percent-decoding is per segment, after the split', async () => {
    expect((await sample.get('/api/v3/observ%61tions/?limit=1')).status).toBe(200);
    expect((await sample.get('/api%2Fv3/observations/?limit=1')).status).toBe(404);
    expect((await sample.get('/api/v3/observations%2F')).status).toBe(404);
  });

  design('a raw `#` is 400', async () => {
    for (const target of ['/api/v3/#observations', '/api/v3/observations/?title=#1']) {
      expect((await sample.get(target)).status, target).toBe(400);
    }
  });

  design('`/api/v3/.json` is the root view', async () => {
    expect(await sample.record('/api/v3/.json')).toEqual(await sample.record('/api/v3/'));
  });
});

describe('design, responses', () => {
  design('HEAD: the headers of GET with its Content-Length, no body.', async () => {
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

  design('OPTIONS: 200 with Allow', async () => {
    const { status, headers, body } = await sample.send({ method: 'OPTIONS', target: LIST });
    expect({ status, allow: headers['allow'] }).toEqual({ status: 200, allow: 'GET, HEAD, OPTIONS' });
    expect(JSON.parse(body)).toMatchObject({ name: 'Observations List', description: '' });
  });

  design(
    'OPTIONS: description \'\', renders `["application/json","text/html"]`, parses the three types of a stock service, names `Observations List` and `Observations Instance`',
    async () => {
      const { body } = await sample.send({ method: 'OPTIONS', target: await firstRecordPath() });
      expect(JSON.parse(body)).toEqual({
        name: 'Observations Instance',
        description: '',
        renders: ['application/json', 'text/html'],
        parses: ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'],
      });
    },
  );

  design('A 404 for an unknown collection, file ending or format says what is near.', async () => {
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

  design('404 `{"detail":"Not found."}`', async () => {
    for (const target of ['/nothing', '/api/v3/nothing/', '/api/v3/observations/999999999/']) {
      const { status, headers, body } = await sample.get(target);
      expect({ status, body, type: headers['content-type'] }, target).toEqual({
        status: 404,
        body: NOT_FOUND,
        type: 'application/json',
      });
    }
  });

  design('405 `{"detail":"Method \\"POST\\" not allowed."}` with Allow', async () => {
    const { status, headers, body } = await sample.send({ method: 'POST', target: LIST });
    expect({ status, body, allow: headers['allow'] }).toEqual({
      status: 405,
      body: '{"detail":"Method \\"POST\\" not allowed."}',
      allow: 'GET, HEAD, OPTIONS',
    });
  });

  design('406 `{"detail":"Could not satisfy the request Accept header."}`', async () => {
    const { status, body } = await sample.get(LIST, { accept: 'text/html' });
    expect({ status, body }).toEqual({
      status: 406,
      body: '{"detail":"Could not satisfy the request Accept header."}',
    });
  });

  design('no Accept, `*/*`, `application/*`, `application/json` give JSON', async () => {
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

  design('An explicit `format` or a `.json` path overrides Accept', async () => {
    for (const target of [`${LIST}?format=api`, `${LIST}?format=json`, '/api/v3/observations.json']) {
      expect((await sample.get(target, { accept: 'text/html' })).status, target).toBe(200);
    }
  });

  design('Errors are JSON too, name the parameter, and never leak a stack or a path.', async () => {
    const { status, headers, body } = await sample.get(`${LIST}?ob_id=x`);
    expect({ status, type: headers['content-type'] }).toEqual({ status: 400, type: 'application/json' });
    expect(body).toBe('{"ob_id":["Enter a whole number."]}');
  });

  design('Range is ignored (200).', async () => {
    const whole = await sample.get(`${LIST}?limit=1`);
    const ranged = await sample.get(`${LIST}?limit=1`, { range: 'bytes=0-9' });
    expect({ status: ranged.status, body: ranged.body }).toEqual({ status: 200, body: whole.body });
  });
});
