// Where and when: bounding boxes, time periods and vertical extents, in the shapes of the public documents.
// `facts.ts` owns the periods, because titles name their years.
import { edged, edgeNumber } from './edges.ts';
import { periodOf } from './facts.ts';
import { decimal, NULL, quote, quoteOrNull, record, type Json } from './json.ts';
import { placeName } from './prose.ts';
import type { Random } from './random.ts';
import type { Source } from './source.ts';

/** Bounding boxes in degrees; one in ten is the whole globe, and one in 23 spells its numbers unusually. */
export const bboxes: Source = {
  length: (world) => world.length('bboxes'),
  records(world, slot) {
    const random = world.random('bboxes', slot);
    const name = random.chance(60) ? edged(placeName(random), slot) : null;
    const bounds = edgeNumber(slot) >= 0 ? ODD_NUMBERS : random.chance(10) ? GLOBE : box(random);
    return [record({ ob_id: `${world.id('bboxes', slot)}`, bboxName: quoteOrNull(name), ...bounds })];
  },
};

/** Time periods; the end is null while a period lasts. */
export const times: Source = {
  length: (world) => world.length('times'),
  records(world, slot) {
    const { start, end } = periodOf(world, slot);
    return [record({ ob_id: `${world.id('times', slot)}`, startTime: quote(start), endTime: quoteOrNull(end) })];
  },
};

/** Vertical extents in metres or hectopascals. */
export const verticalExtents: Source = {
  length: (world) => world.length('verticalextents'),
  records(world, slot) {
    const random = world.random('verticalextents', slot);
    const isPressure = random.chance(30);
    const lowest = isPressure ? random.between(5000, 10_500) : random.between(-60_000, 5000);
    const highest = isPressure ? random.between(1, 4999) : random.between(5001, 800_000);
    return [
      record({
        ob_id: `${world.id('verticalextents', slot)}`,
        highestLevelBound: slot % 20 === 7 ? NULL : decimal(highest, 1),
        lowestLevelBound: decimal(lowest, 1),
        units: quote(isPressure ? 'hPa' : 'm'),
      }),
    ];
  },
};

type Bounds = Readonly<Record<Side, Json>>;
type Side = 'eastBoundLongitude' | 'westBoundLongitude' | 'southBoundLatitude' | 'northBoundLatitude';

function box(random: Random): Bounds {
  const west = random.between(-1_800_000, 1_799_000);
  const south = random.between(-900_000, 899_000);
  return {
    eastBoundLongitude: decimal(random.between(west, 1_800_000), 4),
    westBoundLongitude: decimal(west, 4),
    southBoundLatitude: decimal(south, 4),
    northBoundLatitude: decimal(random.between(south, 900_000), 4),
  };
}

const GLOBE: Bounds = {
  eastBoundLongitude: '180.0',
  westBoundLongitude: '-180.0',
  southBoundLatitude: '-90.0',
  northBoundLatitude: '90.0',
};

/**
 * Number tokens that a service must not respell: a negative zero, trailing zeros, exponents, more digits than a double.
 */
const ODD_NUMBERS: Bounds = {
  eastBoundLongitude: '1.5E+1',
  westBoundLongitude: '-0.0',
  southBoundLatitude: '-12.5000',
  northBoundLatitude: '51.123456789012345678901',
};
