// Examples for the oracle, written by hand from the specification and the design: request in, bytes out.
import { describe, expect, test } from 'vitest';
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import { LOOKUPS } from '../../engine/query/lookups.ts';
import { PARAMETERS } from '../../engine/query/parameters.ts';
import { randomOf } from '../support/random.ts';
import { randomCatalogue } from './catalogues.ts';
import { dataSetOf } from './dataset.ts';
import { LOOKUPS as KNOWN_LOOKUPS } from './lookups.ts';
import { oracle, type OracleAnswer, type OracleSettings } from './oracle.ts';
import { parameterNames, randomParameters, type Place } from './parameters.ts';
import { randomRequest } from './requests.ts';
import { times } from '../support/ring.ts';

const SETTINGS: OracleSettings = {
  baseUrl: 'http://h',
  links: 'spec',
  limitMax: undefined,
  strict: false,
  filterErrors: 'fail',
  filters: 'all',
};

const observation = (id: number, rest: string): string => `{"ob_id":${id},${rest}}\n`;
const OBSERVATIONS =
  observation(3, '"title":"sea ice","publicationState":"citable","volume":1.50,"projects":[]') +
  observation(1, '"title":"river","publicationState":"published","nonGeographicFlag":true') +
  observation(2, '"title":"lake\\u2028","publicationState":"published","doiPublishedTime":null') +
  observation(7, '"title":"ocean","publicationState":"citable","dataPublishedTime":"2015-01-02T03:04:05"');
const PHENOMONA =
  '{"ob_id":1,"names":[],"terms":[{"ob_id":1,"label":"units","value":"K"},{"ob_id":2,"label":"var_id","value":"T"}]}\n' +
  '{"ob_id":2,"names":[{"ob_id":9,"name":"a,b"}],"terms":[{"ob_id":2,"label":"units","value":"T"},{"ob_id":3,"label":"x","value":"K"}]}\n';
const IPPS =
  '{"ob_id":9007199254740991,"platform":"{base_url}/api/v3/platforms/30/?format=api","instrument":"{base_url}/api/v3/instruments/4/?format=api","relatedTo":{"ob_id":5,"uuid":"u","short_code":"acq"},"n":[1e3,9007199254740993]}\n';
const DATA = dataSetOf(
  new Map([
    ['observations', OBSERVATIONS],
    ['phenomona', PHENOMONA],
    ['ipps', IPPS],
    ['composites', '{"ob_id":8}\n'],
    ['computations', '{"ob_id":8,"title":"c"}\n{"ob_id":4}'],
  ]),
);

function get(
  target: string,
  settings: Partial<OracleSettings> = {},
  headers: Record<string, string> = {},
): OracleAnswer {
  return oracle(DATA, { ...SETTINGS, ...settings }, { method: 'GET', target, headers });
}

/** The ids of a list's records, in order. */
function idsOf(target: string, settings: Partial<OracleSettings> = {}): number[] {
  const answer = get(target, settings);
  expect(answer.status, answer.body).toBe(200);
  const page = JSON.parse(answer.body ?? '') as { count: number; results: { ob_id: number }[] };
  expect(page.results.length).toBe(page.count);
  return page.results.map((record) => record.ob_id);
}

describe('the oracle', () => {
  /** The oracle has no query plans: with the settings of the ring, `explain` is an unknown name. */
  const UNKNOWN: readonly string[] = ['explain'];
  const PLACES: readonly Place[] = ['list', 'record', 'root'];

  test('has every lookup of the product in test/differential/lookups.ts', () => {
    const unknown = LOOKUPS.map(({ name }) => name).filter(
      (name) => !(KNOWN_LOOKUPS as readonly string[]).includes(name),
    );
    const sentence = (name: string): string => `add ${name} to ROWS of test/differential/lookups.ts`;
    expect(unknown.map(sentence)).toEqual([]);
  });

  test.each(PLACES)('has every parameter of a %s in test/differential/parameters.ts', (place) => {
    const declared = PARAMETERS.filter(({ name, views }) => views.includes(place) && !UNKNOWN.includes(name));
    const known = parameterNames(place, true);
    const missing = declared.map(({ name }) => name).filter((name) => !known.includes(name));
    const sentence = (name: string): string => `add ${name} of a ${place} to ROWS of test/differential/parameters.ts`;
    expect(missing.map(sentence)).toEqual([]);
    const excess = known.filter((name) => !declared.some((row) => row.name === name));
    expect(excess.map((name) => `${name} is no parameter of a ${place} in engine/query/parameters.ts`)).toEqual([]);
  });

  test('draws every parameter for the differential ring', () => {
    const random = randomOf(21);
    const draws = Array.from({ length: 500 }, () => randomParameters(random, COLLECTIONS[0]!, undefined)).flat();
    const drawn = new Set(draws.map((text) => text.slice(0, text.indexOf('='))));
    const missing = parameterNames('list', true).filter((name) => !drawn.has(name));
    expect(missing.map((name) => `let \`draw\` of ${name} in test/differential/parameters.ts draw something`)).toEqual(
      [],
    );
  });
});

describe('pages of the oracle', () => {
  test('re-encode the query of the next link with names sorted', () => {
    const { body } = get('/api/v3/observations/?title__contains!=ocean&limit=1&publicationState__in=published,citable');
    expect(body).toBe(
      '{"count":3,"next":"http://h/api/v3/observations/?limit=1&offset=1&publicationState__in=published%2Ccitable&title__contains%21=ocean",' +
        '"previous":null,"results":[{"ob_id":1,"title":"river","publicationState":"published","nonGeographicFlag":true}]}',
    );
  });

  test('omit an offset of 0 in the previous link', () => {
    const { body } = get('/api/v2/observations.json?limit=2&offset=1&b=2&a=x+y&b=1');
    expect(body).toContain('"next":"http://h/api/v2/observations.json?a=x+y&b=2&b=1&limit=2&offset=3"');
    expect(body).toContain('"previous":"http://h/api/v2/observations.json?a=x+y&b=2&b=1&limit=2"');
  });

  test('have no results past the end, and the exact count', () => {
    const { body } = get('/api/v3/observations/?offset=500');
    expect(body).toBe(
      '{"count":4,"next":null,"previous":"http://h/api/v3/observations/?limit=100&offset=400","results":[]}',
    );
  });

  test('read an invalid limit or offset as 100 and 0, and use the last one', () => {
    const first = get('/api/v3/observations/?limit=1').body;
    expect(get('/api/v3/observations/?limit=%2B01&limit=x&limit=+1+&offset=-1').body).toBe(first);
    expect(idsOf('/api/v3/observations/?limit=0&offset=-1')).toEqual([1, 2, 3, 7]);
    expect(get('/api/v3/observations/?limit=9', { limitMax: 3 }).body).toContain('?limit=3&offset=3"');
  });

  test('escape strings again and keep number tokens as written', () => {
    expect(get('/api/v3/observations/2/').body).toBe(
      '{"ob_id":2,"title":"lake\\u2028","publicationState":"published","doiPublishedTime":null}',
    );
    expect(get('/api/v3/ipps/9007199254740991/').body).toContain('"n":[1e3,9007199254740993]');
    expect(get('/api/v3/observations/3/').body).toContain('"volume":1.50');
  });
});

describe('paths of the oracle', () => {
  test('serve every spelling of a collection', () => {
    for (const path of ['phenomona/', 'phenomena/', 'phenomena.json', 'phenomona.json/', 'phenom%6fna/']) {
      expect(get(`/api/v3/${path}`).body).toContain('"count":2');
    }
  });

  test('redirect a path without its slash if the path with it exists', () => {
    expect(get('/api/v3/observations?a=%2f&')).toMatchObject({
      status: 301,
      headers: { location: '/api/v3/observations/?a=%2f&' },
    });
    expect(get('/api/v3/observations/%31').headers).toEqual({ location: '/api/v3/observations/%31/' });
    for (const path of ['/api/v1', '/api/v3/nothing', '/api/v3/observations/x']) {
      expect(get(path)).toMatchObject({ status: 404, body: '{"detail":"Not found."}' });
    }
    const near = '{"detail":"Not found. Did you mean \\"/api/v3/migrationproperties/\\"?"}';
    expect(get('/api/v2/migrationproperties')).toMatchObject({ status: 404, body: near });
  });

  test('accept an id as 01, +1 and 1 with a blank', () => {
    for (const id of ['01', '+1', '1%20', '%2B1']) expect(get(`/api/v3/observations/${id}/`).status).toBe(200);
    for (const id of ['1.0', '-1', 'x', '1/1', '99']) expect(get(`/api/v3/observations/${id}/`).status).toBe(404);
  });

  test('return a computation at ProcedureComputations, or else the composite with that id', () => {
    expect(get('/api/v3/ProcedureComputations/').body).toContain('"count":2');
    expect(get('/api/v3/ProcedureComputations/8/').body).toBe('{"ob_id":8,"title":"c"}');
    const composites = dataSetOf(new Map([['composites', '{"ob_id":8}']]));
    const request = { method: 'GET', target: '/api/v3/ProcedureComputations/8.json', headers: {} };
    expect(oracle(composites, SETTINGS, request).body).toBe('{"ob_id":8}');
  });

  test('name v2 in the links of a v2 response, and follow the request if the setting says so', () => {
    const platformOf = (target: string, settings: Partial<OracleSettings> = {}): unknown =>
      (JSON.parse(get(target, settings).body ?? '') as { platform: unknown }).platform;
    const path = '/api/v2/ipps/9007199254740991';
    expect(platformOf(`${path}/`)).toBe('http://h/api/v2/platforms/30/?format=api');
    expect(platformOf(`${path}/`, { links: 'request' })).toBe('http://h/api/v2/platforms/30/');
    expect(platformOf(`${path}/?format=json`, { links: 'request' })).toBe('http://h/api/v2/platforms/30/?format=json');
    expect(platformOf(`${path}.json`, { links: 'request' })).toBe('http://h/api/v2/platforms/30.json');
  });

  test('list the served collections in both root views', () => {
    expect(get('/api/v3/').body).toMatch(
      /^\{"acquisitions":"http:\/\/h\/api\/v3\/acquisitions\/\?format=api","bboxes":/,
    );
    expect(Object.keys(JSON.parse(get('/api/v3/.json').body ?? '') as object)).toHaveLength(34);
    expect(Object.keys(JSON.parse(get('/api/v2/').body ?? '') as object)).toHaveLength(33);
  });
});

describe('methods and negotiation of the oracle', () => {
  const send = (method: string, target = '/api/v3/observations/'): OracleAnswer =>
    oracle(DATA, SETTINGS, { method, target, headers: {} });

  test('give HEAD the headers of GET and no body', () => {
    expect(send('HEAD')).toEqual({ ...send('GET'), body: '' });
  });

  test('describe the view for OPTIONS', () => {
    expect(send('OPTIONS').body).toBe(
      '{"name":"Observations List","description":"","renders":["application/json","text/html"],' +
        '"parses":["application/json","application/x-www-form-urlencoded","multipart/form-data"]}',
    );
    expect(send('OPTIONS', '/api/v3/observations/1/').body).toContain('"name":"Observations Instance"');
  });

  test('answer other methods with 405', () => {
    expect(send('POST')).toMatchObject({
      status: 405,
      headers: { allow: 'GET, HEAD, OPTIONS' },
      body: '{"detail":"Method \\"POST\\" not allowed."}',
    });
  });

  test('use Accept unless the path or format decides', () => {
    const html = { accept: 'text/html' };
    expect(get('/api/v3/observations/', {}, html).status).toBe(406);
    expect(get('/api/v3/observations/?format=', {}, html).status).toBe(406);
    expect(get('/api/v3/observations/?format=api', {}, html).status).toBe(200);
    expect(get('/api/v3/observations.json', {}, html).status).toBe(200);
    expect(get('/api/v3/observations/?format=xml').status).toBe(404);
    expect(get('/api/v3/observations/', {}, { accept: 'application/json;q=0, */*' }).status).toBe(406);
    expect(get('/api/v3/observations/', {}, { accept: 'text/html, */*;q=0.8' }).status).toBe(200);
  });
});

describe('filters of the oracle', () => {
  const observations = '/api/v3/observations/?';
  const phenomena = '/api/v3/phenomena/?';

  test('require positive conditions on one relation to hold for the same related row', () => {
    expect(idsOf(`${phenomena}terms__label=units`)).toEqual([1, 2]);
    expect(idsOf(`${phenomena}terms__label=units&terms__value=K`)).toEqual([1]);
    expect(idsOf(`${phenomena}terms=2&terms__value=T&terms__label__startswith=un`)).toEqual([2]);
  });

  test('treat negated conditions separately and keep records without related rows', () => {
    expect(idsOf(`${phenomena}terms__label!=var_id`)).toEqual([2]);
    expect(idsOf(`${phenomena}terms__label!=var_id&terms__value!=x`)).toEqual([2]);
    expect(idsOf(`${phenomena}names__name__contains!=a`)).toEqual([1]);
  });

  test('split in at commas, trim, and match nothing when empty', () => {
    expect(idsOf(`${observations}title__in=ocean,+river+,x`)).toEqual([1, 7]);
    expect(idsOf(`${observations}title__in=`)).toEqual([]);
    expect(idsOf(`${observations}title__in!=`)).toEqual([1, 2, 3, 7]);
    expect(idsOf(`${phenomena}names__name__in=a,b`)).toEqual([]);
  });

  test('match a null only by negations', () => {
    expect(idsOf(`${observations}doiPublishedTime__startswith=`)).toEqual([]);
    expect(idsOf(`${observations}doiPublishedTime__startswith!=2`)).toEqual([1, 2, 3, 7]);
  });

  test('compare dates by instant', () => {
    expect(idsOf(`${observations}dataPublishedTime=2015-01-02T05:04:05.0%2B02:00`)).toEqual([7]);
    expect(idsOf(`${observations}dataPublishedTime__contains=T03`)).toEqual([7]);
    expect(get(`${observations}dataPublishedTime=2015-02-29`).body).toBe(
      '{"dataPublishedTime":["Enter a valid date/time.",' +
        '"Write a date as 2020-01-31, a time as 2020-01-31T12:30:00Z."]}',
    );
  });

  test('compare a link by its id', () => {
    expect(idsOf('/api/v3/ipps/?platform=30.00&relatedTo=5&relatedTo__short_code=acq')).toHaveLength(1);
    expect(idsOf('/api/v3/ipps/?platform__in=3,4&ob_id=1')).toEqual([]);
    expect(get('/api/v3/ipps/?platform__contains=3').body).toContain(
      '{"platform__contains":["\\"contains\\" lookup is not supported","Lookups that fit: exact, in, isnull, ',
    );
  });

  test('require all repeated conditions, join lists and names, and use the last value of others', () => {
    expect(idsOf(`${observations}ob_id__gte=1&ob_id__gte=2&ob_id__lte=2`)).toEqual([2]);
    expect(idsOf(`${observations}ob_id__in=1&ob_id__in=&ob_id__in=2&fields=x&fields=ob_id`)).toEqual([1, 2]);
    expect(get(`${observations}limit=1&limit=2&strict=1`).body).toContain('{"limit":["This parameter is repeated,');
  });

  test('list every bad key in query order in a 400', () => {
    const { body } = get(
      `${observations}title__foo=1&ob_id=1.5&title__=&ob_id__in=1,x&projects__foo=1&title__nope=%00`,
    );
    const first = Object.entries(JSON.parse(body ?? '') as Record<string, string[]>).map(([key, [message]]) => [
      key,
      message,
    ]);
    expect(first).toEqual([
      ['title__foo', '"foo" lookup is not supported'],
      ['ob_id', 'Enter a whole number.'],
      ['title__', '"" lookup is not supported'],
      ['ob_id__in', 'Enter a whole number.'],
      ['projects__foo', 'Unknown field "foo".'],
      ['title__nope', '"nope" lookup is not supported'],
    ]);
    expect(get(`${observations}title=%00`).body).toBe('{"title":["Null characters are not allowed."]}');
  });

  test('refuse, empty or ignore a bad filter as filterErrors says', () => {
    expect(idsOf(`${observations}ob_id=x`, { filterErrors: 'empty' })).toEqual([]);
    expect(idsOf(`${observations}ob_id__in=x,2`, { filterErrors: 'empty' })).toEqual([2]);
    const ignoring = get(`${observations}page=1&ob_id__in=x&title=river`, { filterErrors: 'ignore' });
    expect(ignoring).toMatchObject({ status: 200, headers: { 'x-ignored-params': 'page, ob_id__in' } });
    expect(ignoring.body).toContain('"count":1');
  });

  test('name unknown parameters, or refuse them with the nearest known name', () => {
    expect(get(`${observations}page=1&a%20b=&page=2`).headers['x-ignored-params']).toBe('page, a%20b');
    expect(get(`${observations}limit=1`).headers['x-ignored-params']).toBeNull();
    expect(get(`${observations}strict=1&publicationStatus__in=x&page=2`).body).toBe(
      '{"publicationStatus__in":["Unknown parameter. Did you mean \\"publicationState__in\\"?"],"page":["Unknown parameter.","Write it as \\"limit=100&offset=200\\"."]}',
    );
    expect(get('/api/v3/observations/1/?limit=1', { strict: true }).body).toBe('{"limit":["Unknown parameter."]}');
    expect(get(`${observations}ob_id=1`, { filters: 'documented' }).headers['x-ignored-params']).toBe('ob_id');
  });
});

describe('filters through links of the oracle', () => {
  const link = (to: string, id: number): string => `"{base_url}/api/v3/${to}/${id}/?format=api"`;
  const observed = (id: number, projects: readonly number[], rest: string): string =>
    observation(id, `"title":"t${id}","projects":[${projects.map((to) => link('projects', to)).join(',')}],${rest}`);
  const linked = dataSetOf(
    new Map([
      [
        'observations',
        observed(1, [1, 2], `"result_field":{"ob_id":${link('observations', 2)},"dataPath":"/a"}`) +
          observed(2, [2, 9], `"procedureAcquisition":${link('acquisitions', 1)}`) +
          observed(3, [], `"procedureAcquisition":null`),
      ],
      ['projects', '{"ob_id":1,"uuid":"p1","title":"ice"}\n{"ob_id":2,"uuid":"p2","title":"sea"}\n'],
      ['acquisitions', `{"ob_id":1,"instrumentplatformpair_set":[{"ob_id":5,"platform":${link('platforms', 8)}}]}\n`],
      ['platforms', '{"ob_id":8,"title":"ship"}\n'],
    ]),
  );
  const idsOfLinked = (query: string): number[] => {
    const request = { method: 'GET', target: `/api/v3/observations/?${query}`, headers: {} };
    const page = JSON.parse(oracle(linked, SETTINGS, request).body ?? '') as { results: { ob_id: number }[] };
    return page.results.map((record) => record.ob_id);
  };

  test.each([
    ['projects__uuid=p2', [1, 2]],
    ['projects__uuid=p1&projects__title=ice', [1]],
    ['projects__uuid=p1&projects__title=sea', []],
    ['projects=1&projects__title=sea', []],
    ['projects__uuid!=p1', [2, 3]],
    ['projects__ob_id=9', [2]],
    ['projects__ob_id__startswith=9', [2]],
    ['projects__ob_id=1&projects=9', []],
    ['projects__ob_id__in=1&projects__in=9', [1, 2]],
    ['result_field__title=t2', [1]],
    ['result_field__ob_id__title=t2&result_field__dataPath=/a', [1]],
    ['result_field__projects=9', [1]],
    ['procedureAcquisition__instrumentplatformpair_set__platform__title=ship', [2]],
    ['result_field__procedureAcquisition__instrumentplatformpair_set__platform__title__startswith=s', [1]],
  ])('%s: match %j', (query, ids) => {
    expect(idsOfLinked(query)).toEqual(ids);
  });
});

describe('fields and exports of the oracle', () => {
  const ODD = dataSetOf(
    new Map([['notes', '{"ob_id":2,"b":"x,\\"y","a":null}\n{"ob_id":1,"c":[{"u":"{base_url}/z"}],"a":""}\n']]),
  );
  const odd = (query: string, settings: Partial<OracleSettings> = {}): OracleAnswer =>
    oracle(ODD, { ...SETTINGS, ...settings }, { method: 'GET', target: `/api/v3/notes/${query}`, headers: {} });

  test('reduce records to the requested keys, in record order', () => {
    expect(odd('2/?fields=a,b,%20a').body).toBe('{"b":"x,\\"y","a":null}');
    expect(odd('?fields=a&fields=c&limit=1&offset=1').body).toContain('"results":[{"a":null}]');
    expect(odd('2/?fields=,').body).toBe('{"ob_id":2,"b":"x,\\"y","a":null}');
  });

  test('name unknown names, or refuse them with the nearest known one', () => {
    const { headers, body } = odd('?x=1&fields=ob_id,d%2Cob_idd&y=2');
    expect(headers['x-ignored-params']).toBe('x, fields=d, fields=ob_idd, y');
    expect(body).toContain('"results":[{"ob_id":1},{"ob_id":2}]');
    expect(odd('?fields=ob_idd,d', { strict: true }).body).toBe(
      '{"fields":["Unknown field \\"ob_idd\\". Did you mean \\"ob_id\\"?","Unknown field \\"d\\"."]}',
    );
  });

  test('have a line per record in ndjson, a header and a row per record in csv, and all rows without a limit', () => {
    const lines = '{"ob_id":1,"c":[{"u":"http://h/z"}],"a":""}\n{"ob_id":2,"b":"x,\\"y","a":null}\n';
    expect(odd('?format=ndjson', { limitMax: 1 })).toMatchObject({
      headers: { 'content-type': 'application/x-ndjson', 'content-length': String(lines.length) },
      body: lines,
    });
    expect(odd('?format=ndjson&limit=1&offset=1&fields=a').body).toBe('{"a":null}\n');
    expect(odd('?format=csv').headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(odd('?format=csv').body).toBe('ob_id,a,b,c\r\n1,"",,"[{""u"":""http://h/z""}]"\r\n2,,"x,""y",\r\n');
    expect(odd('?format=csv&fields=b&ob_id=1').body).toBe('b\r\n""\r\n');
    expect(odd('2/?format=csv&fields=ob_id').body).toBe('ob_id\r\n2\r\n');
    expect(odd('2/?format=csv&fields=nosuch').body).toBe('ob_id\r\n2\r\n');
    expect(oracle(ODD, SETTINGS, { method: 'GET', target: '/api/v3/?format=csv', headers: {} }).status).toBe(404);
  });
});

test('answers any random request on any random catalogue with JSON', () => {
  const seed = 20;
  const random = randomOf(seed);
  const dataSet = dataSetOf(randomCatalogue(random));
  const statuses = new Map<number, number>();
  for (let i = 0; i < times(800, 2000); i++) {
    const request = randomRequest(random, dataSet);
    const answer = oracle(dataSet, SETTINGS, { ...request, method: 'GET' });
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    const isJson = answer.headers['content-type'] === 'application/json';
    if (answer.body !== undefined && isJson) expect(() => JSON.parse(answer.body ?? ''), request.target).not.toThrow();
  }
  expect(
    [...statuses.keys()].sort((a, b) => a - b),
    `seed ${seed}`,
  ).toEqual([200, 301, 400, 404, 406]);
});
