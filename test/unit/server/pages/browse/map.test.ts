// Maps: which boxes they show of which places, and the part of the world around them.
import { parseHTML } from 'linkedom';
import { expect, test } from 'vitest';
import { type Box, readBox, boxText, drawMap } from '../../../../../server/pages/browse/map.ts';
import { utf8Of } from '../../../../../server/pages/browse/template.ts';
import { browseRecords } from '../../../../support/htmlPages.ts';

const boxFrom = (...[west, east, south = 10, north = 20]: readonly unknown[]): Box | undefined =>
  readBox({
    westBoundLongitude: west,
    eastBoundLongitude: east,
    southBoundLatitude: south,
    northBoundLatitude: north,
  });

/** The region of a map, and its boxes as x, y, width and height. */
function drawn(boxes: readonly Box[]): { readonly region: readonly number[]; readonly boxes: readonly number[][] } {
  const { document } = parseHTML(utf8Of(drawMap('../', boxes, 'Map')).toString());
  const region = document.querySelector('svg')!.getAttribute('viewBox')!.split(' ').map(Number);
  const path = document.querySelector('.box')!.getAttribute('d')!;
  const parts = [...path.matchAll(/M(\S+) ([^h]+)h([^v]+)v([^h]+)h/g)].map((part) =>
    part.slice(1).map((tenths: string) => Number(tenths) / 10),
  );
  return { region, boxes: parts };
}

test.each([
  ['as it is', [-30, 40], [[-30, 70]], '30° W to 40° E'],
  ['east of 180 degrees', [190, 200], [[-170, 10]], '190° E to 200° E'],
  ['of the whole circle from 0', [0, 360], [[-180, 360]], '0° E to 360° E'],
  ['of the whole circle from -180', [-180, 180], [[-180, 360]], '180° W to 180° E'],
  ['across the prime meridian, from 0', [350, 10], [[-10, 20]], '350° E to 10° E'],
  ['of a single meridian', [3, 3], [[2.7, 0.6]], '3° E'],
  ['close to -180', [-180, -179.9], [[-180, 0.6]], '180° W to 179.9° W'],
  ['close to 180', [179.9, 180], [[179.4, 0.6]], '179.9° E to 180° E'],
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
      [176.4, 3.6],
      [-180, 3.6],
    ],
    '179.5° E to 179.5° W, across the 180th meridian',
  ],
] as const)('a map has a box %s, inside of the map', (_, [west, east], spans, text) => {
  const box = boxFrom(west, east)!;
  expect(drawn([box]).boxes).toEqual(spans.map(([x, width]) => [x, -20, width, 10]));
  expect(boxText(box).replaceAll('\u00a0', ' ')).toBe(`10° N to 20° N, ${text}`);
});

test.each([-90, 89.99])('a map has a box at a pole, inside of the map: %d', (south) => {
  const { region, boxes } = drawn([boxFrom(0, 10, south, south)!]);
  expect(region).toEqual([-25, south < 0 ? 60 : -90, 60, 30]);
  expect(boxes).toEqual([[0, south < 0 ? 89.4 : -90, 10, 0.6]]);
});

test.each([
  ['a small box with its surroundings', [boxFrom(-4, -2, 50, 52)!], [-33, -66, 60, 30]],
  ['several boxes close to each other', [boxFrom(0, 2)!, boxFrom(18, 20)!], [-20, -30, 60, 30]],
  ['a high box with as much at its sides', [boxFrom(0, 2, -10, 15)!], [-74, -40, 150, 75]],
  ['a box at the edge of the world, without what is beyond', [boxFrom(170, 180)!], [120, -30, 60, 30]],
  ['the world around a large box', [boxFrom(-40, 40)!], [-180, -90, 360, 180]],
  ['the world around boxes that are far apart', [boxFrom(-120, -118)!, boxFrom(150, 152)!], [-180, -90, 360, 180]],
  ['the world for no box', [], [-180, -90, 360, 180]],
] as const)('a map shows %s', (_, boxes, region) => {
  expect(drawn(boxes).region).toEqual(region);
});

test.each([
  [-361, 0, 0, 1],
  [0, 361, 0, 1],
  [0, 1, -91, 0],
  [0, 1, 0, 90.5],
  [null, 1, 0, 1],
  ['0', 1, 0, 1],
])('a place is absent for an invalid box: %j %j %j %j', (...sides) => {
  expect(boxFrom(...sides)).toBeUndefined();
});

test('the coastlines of a map are an image of this server', async () => {
  const { document } = parseHTML(utf8Of(drawMap('../', [], 'Map')).toString());
  const href = document.querySelector('image')!.getAttribute('href')!;
  expect(href).toMatch(/^\.\.\/browse\/assets\/land-[0-9a-f]{16}\.svg$/);
  const { reply } = await browseRecords({})(href.slice(2), '*/*');
  expect([reply.status, reply.headers['Content-Type']]).toEqual([200, 'image/svg+xml']);
  expect(reply.text).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" viewBox="0 0 720 360"><path /);
});
