// The place and period of a record on its page, from its members and from the records that it links to.
import { parseHTML } from 'linkedom';
import { describe, expect, test } from 'vitest';
import type { Member } from '../../../../../engine/page/members.ts';
import { periodBar, placeMap } from '../../../../../server/pages/browse/placesAndPeriods.ts';
import { type Markup, utf8Of } from '../../../../../server/pages/browse/template.ts';
import { type Browsed, browseRecords } from '../../../../support/htmlPages.ts';

const link = (to: string, id: number): string => `{base_url}/api/v3/${to}/${id}/?format=api`;
const box = (ob_id: number, west: unknown, east: unknown, south: unknown = 10, north: unknown = 20): object => ({
  ob_id,
  bboxName: null,
  eastBoundLongitude: east,
  westBoundLongitude: west,
  southBoundLatitude: south,
  northBoundLatitude: north,
});

const membersOf = (record: object): readonly Member[] =>
  Object.entries(record).map(([key, value]) => ({ key, value: { kind: 'whole', json: JSON.stringify(value) } }));
const figureOf = (drawn: Markup | false): ReturnType<Browsed['page']['querySelector']> =>
  drawn ? parseHTML(utf8Of(drawn).toString()).document.querySelector('figure') : null;

describe('the page of an observation', () => {
  const observation = (ob_id: number, linked: object): object => ({ ob_id, title: `t${ob_id}`, ...linked });
  const browsed = browseRecords({
    observations: [
      observation(1, { timePeriod: link('times', 5), geographicExtent: link('bboxes', 6) }),
      observation(2, { timePeriod: link('times', 99), geographicExtent: null }),
      observation(3, { timePeriod: link('times', 7), geographicExtent: link('bboxes', 8) }),
    ],
    times: [
      { ob_id: 5, startTime: '2011-12-08T19:13:24', endTime: '2012-02-20T13:19:52' },
      { ob_id: 7, startTime: 'unknown', endTime: null },
    ],
    bboxes: [box(6, -10, 30), box(8, null, 1)],
  });

  test('has the map and the bar of its linked records, as links to them', async () => {
    const { page } = await browsed('/browse/observations/1/');
    const captions = [...page.querySelectorAll('aside figcaption')];
    expect(captions.map(({ textContent }) => textContent.replaceAll('\u00a0', ' '))).toEqual([
      'geographicExtent: 10° N to 20° N, 10° W to 30° E',
      'timePeriod: 2011-12-08 to 2012-02-20, 74 days',
    ]);
    expect(captions.map((one) => one.querySelector('a')!.getAttribute('href'))).toEqual([
      '../../../browse/bboxes/6/',
      '../../../browse/times/5/',
    ]);
    expect(page.querySelector('.map svg')!.getAttribute('aria-label')).toMatch(
      /^Box on the globe: 10°\sN to 20°\sN, 10°\sW to 30°\sE$/,
    );
    expect(page.querySelectorAll('.map .box, .period .box').length).toBe(2);
  });

  test.each([2, 3])('has none if its links dangle, or have no place and no date: %d', async (id) => {
    const { reply, page } = await browsed(`/browse/observations/${id}/`);
    expect([reply.status, page.querySelectorAll('figure').length]).toEqual([200, 0]);
  });
});

describe('a map', () => {
  const drawnOf = (...[west, east, south, north]: readonly unknown[]): object => {
    const figure = figureOf(placeMap(membersOf(box(1, west, east, south, north)), false));
    const boxes = [...(figure?.querySelectorAll('.box') ?? [])].map((rect) =>
      ['x', 'y', 'width', 'height'].map((name) => Number(rect.getAttribute(name))),
    );
    return { boxes, caption: figure?.querySelector('figcaption')?.textContent.replaceAll('\u00a0', ' ') };
  };

  test.each([
    ['as it is', [-30, 40], [[-30, 70]], '30° W to 40° E'],
    ['east of 180 degrees', [190, 200], [[-170, 10]], '190° E to 200° E'],
    ['of the whole circle from 0', [0, 360], [[-180, 360]], '0° E to 360° E'],
    ['of the whole circle from -180', [-180, 180], [[-180, 360]], '180° W to 180° E'],
    ['across the prime meridian, from 0', [350, 10], [[-10, 20]], '350° E to 10° E'],
    ['close to -180', [-180, -179.9], [[-180, 3]], '180° W to 179.9° W'],
    ['close to 180', [179.9, 180], [[177, 3]], '179.9° E to 180° E'],
    [
      'whose west is east of its east',
      [170, -160],
      [
        [170, 10],
        [-180, 20],
      ],
      '170° E to 160° W, across the 180th meridian',
    ],
    [
      'across 180 degrees, from 0',
      [175, 190],
      [
        [175, 5],
        [-180, 10],
      ],
      '175° E to 190° E, across the 180th meridian',
    ],
    [
      'across 180 degrees by little',
      [179.5, -179.5],
      [
        [177, 3],
        [-180, 3],
      ],
      '179.5° E to 179.5° W, across the 180th meridian',
    ],
  ] as const)('has a box %s, inside of the map', (_, [west, east], spans, caption) => {
    expect(drawnOf(west, east)).toEqual({
      boxes: spans.map(([x, width]) => [x, -20, width, 10]),
      caption: `10° N to 20° N, ${caption}`,
    });
  });

  test.each([-90, 89.99])('has a box at a pole, inside of the map: %d', (south) => {
    expect(drawnOf(0, 10, south, south)).toMatchObject({ boxes: [[0, south < 0 ? 87 : -90, 10, 3]] });
  });

  test.each([
    [-361, 0, 0, 1],
    [0, 361, 0, 1],
    [0, 1, -91, 0],
    [0, 1, 0, 90.5],
    [null, 1, 0, 1],
    ['0', 1, 0, 1],
  ])('is absent for an invalid box: %j %j %j %j', (...sides) => {
    expect(drawnOf(...sides)).toEqual({ boxes: [], caption: undefined });
  });
});

describe('a bar', () => {
  const captionOf = (startTime: unknown, endTime: unknown): string | undefined => {
    const figure = figureOf(periodBar(membersOf({ startTime, endTime }), false));
    const [x = 0, width = 0] = ['x', 'width'].map((name) =>
      Number(figure?.querySelector('.box')?.getAttribute(name) ?? 0),
    );
    expect([x >= 0, x + width <= 361]).toEqual([true, true]);
    return figure?.querySelector('figcaption')?.textContent;
  };

  test.each([
    ['2011-12-08T19:13:24', '2012-02-20T13:19:52', '2011-12-08 to 2012-02-20, 74 days'],
    ['2011-12-08', '2011-12-09', '2011-12-08 to 2011-12-09, 1 day'],
    ['2011-12-08T19:13:24', '2011-12-08T19:13:24', '2011-12-08 to 2011-12-08'],
    ['2011-12-08T19:13:24', '2011-12-08', '2011-12-08 to 2011-12-08'],
    ['2011-12-08T00:00:00', null, 'from 2011-12-08 on'],
    ['2014-05-02T00:00:00', '1999-01-01T00:00:00', '2014-05-02 to 1999-01-01: it ends before it starts'],
    ['2014-05-02T10:00:00', '2014-05-02T09:59:59', '2014-05-02 to 2014-05-02: it ends before it starts'],
    ['unknown', '2014-05-02', undefined],
    ['2019-01-01T00:00:00', '2019-12', undefined],
    ['2019-01-01T00:00:00', 2019, undefined],
    [null, null, undefined],
  ])('from %j to %j shows %s', (start, end, caption) => {
    expect(captionOf(start, end)).toBe(caption);
  });
});
