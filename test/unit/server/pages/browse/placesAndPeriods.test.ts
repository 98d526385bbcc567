// The place and period of a record on its page, from its members and from the records that it links to.
import { parseHTML } from 'linkedom';
import { describe, expect, test } from 'vitest';
import type { Member } from '../../../../../engine/page/members.ts';
import { periodBar } from '../../../../../server/pages/browse/placesAndPeriods.ts';
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
    expect(page.querySelector('svg.map')!.getAttribute('aria-label')).toMatch(
      /^Map: 10°\sN to 20°\sN, 10°\sW to 30°\sE$/,
    );
    expect(page.querySelectorAll('.map .box, .period .box').length).toBe(2);
  });

  test.each([2, 3])('has none if its links dangle, or have no place and no date: %d', async (id) => {
    const { reply, page } = await browsed(`/browse/observations/${id}/`);
    expect([reply.status, page.querySelectorAll('figure').length]).toEqual([200, 0]);
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
