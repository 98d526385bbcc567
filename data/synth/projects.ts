// Projects, platforms, instruments and mobile platform operations:
// the records with a title that observations hang on.
import { edged } from './edges.ts';
import { list, quote, quoteOrNull, record, type Json } from './json.ts';
import { abstractText, keywordText, organisationName, paragraph, placeName, type Subject } from './prose.ts';
import type { Random } from './random.ts';
import type { Source } from './source.ts';
import { INSTRUMENTS, PLATFORMS, PROJECT_ACTIVITIES, PROJECT_TOPICS } from './words.ts';
import type { World } from './world.ts';

/** A project's title without edge texts, and the acronym in capitals that titles and paths of its data begin with. */
export function projectName(world: World, slot: number): { title: string; acronym: string } {
  const random = world.random('project name', slot);
  const title = `${placeName(random)} ${random.pick(PROJECT_ACTIVITIES)} of ${random.pick(PROJECT_TOPICS)}`;
  const initials = title
    .split(/[ -]/)
    .filter((word) => word !== 'of' && word !== 'the' && word !== 'and')
    .map((word) => word.slice(0, 1).toUpperCase());
  return { title, acronym: `${initials.join('')}${slot}` };
}

/** Projects: shape of the public documents. */
export const projects: Source = {
  length: (world) => world.length('projects'),
  records(world, slot) {
    const random = world.random('projects', slot);
    const name = projectName(world, slot);
    const published = random.chance(90);
    const title = edged(`${name.title} (${name.acronym})`, slot);
    return [
      record({
        ...titled(world, 'projects', slot, { title, abstract: abstractText(random, subject(random, name.acronym), 2) }),
        publicationState: quote(published ? 'published' : 'working'),
        keywords: quote(edged(keywordText(random, 5), slot, 2)),
        status: quote(random.chance(80) ? 'completed' : 'ongoing'),
      }),
    ];
  },
};

/** Platforms: shape of the public documents. */
export const platforms: Source = {
  length: (world) => world.length('platforms'),
  records(world, slot) {
    const random = world.random('platforms', slot);
    const [type, noun] = random.pick(PLATFORMS);
    const place = placeName(random);
    const abstract = `${noun} named after ${place}. ${paragraph(random, { ...subject(random, noun), place }, 2)}`;
    return [
      record({
        ...titled(world, 'platforms', slot, { title: edged(`${place} ${noun}`, slot, 1), abstract }),
        keywords: quote(keywordText(random, 3)),
        platformType: quote(type),
        location: random.chance(40) ? world.link('bboxes', random.below(world.length('bboxes'))) : 'null',
      }),
    ];
  },
};

/** Instruments: shape of the public documents. */
export const instruments: Source = {
  length: (world) => world.length('instruments'),
  records(world, slot) {
    const random = world.random('instruments', slot);
    const kind = random.pick(INSTRUMENTS);
    const title = edged(`${organisationName(random)} ${kind} ${random.between(1, 99)}`, slot, 2);
    const abstract = paragraph(random, { ...subject(random, title), instrument: kind }, 2);
    return [
      record({
        ...titled(world, 'instruments', slot, { title, abstract }),
        keywords: quote(random.chance(20) ? '' : keywordText(random, 3)),
        instrumentType: quote(kind.includes('radar') || kind.includes('lidar') ? 'active' : 'passive'),
      }),
    ];
  },
};

/** Mobile platform operations: flights and cruises. The specification shows no fields. */
export const mpos: Source = {
  length: (world) => world.length('mpos'),
  records(world, slot) {
    const random = world.random('mpos', slot);
    const title = edged(`Flight ${random.between(100, 999)} from ${placeName(random)}`, slot, 3);
    return [
      record({
        ...titled(world, 'mpos', slot, { title, abstract: paragraph(random, subject(random, title), 1) }),
        platform: world.link('platforms', random.below(world.length('platforms'))),
        children: list([]),
        operator: quoteOrNull(random.chance(50) ? organisationName(random) : null),
      }),
    ];
  },
};

function titled(
  world: World,
  collection: 'instruments' | 'mpos' | 'platforms' | 'projects',
  slot: number,
  texts: { readonly title: string; readonly abstract: string },
): Record<string, Json> {
  return {
    ob_id: `${world.id(collection, slot)}`,
    uuid: quote(world.uuid(collection, slot)),
    short_code: quote(SHORT_CODES[collection]),
    title: quote(texts.title),
    abstract: quote(edged(texts.abstract, slot, 4)),
  };
}

const SHORT_CODES = { instruments: 'instr', mpos: 'mpop', platforms: 'plat', projects: 'proj' } as const;

function subject(random: Random, project: string): Subject {
  const instrument = random.pick(INSTRUMENTS);
  return {
    instrument,
    place: placeName(random),
    project,
    quantity: 'the atmosphere',
    year: random.between(1960, 2020),
  };
}
