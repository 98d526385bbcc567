// What other records must know of an observation without reading it: its state, process, period, project and the slots
// of the records that belong to it. Everything here is a function of the seed and the observation's index.
import { edgeNumber, shapeOf, type ObservationShape } from './edges.ts';
import { dateTimeText, placeName, spoken, type Subject } from './prose.ts';
import { projectName } from './projects.ts';
import { INSTRUMENTS, QUANTITIES } from './words.ts';
import { OBSERVATIONS_PER_COLLECTION, SLOTS, type World } from './world.ts';

/** How an observation's data came about: exactly one process, or none for a few (spec 2.9). */
export type Process = 'acquisition' | 'computation' | 'composite' | 'none';

/** What is fixed about one observation. */
export interface Facts {
  readonly shape: ObservationShape | undefined;
  readonly publicationState: string;
  readonly process: Process;
  /** Slots of acquisitions and computations that exist for it: its own, or its composite's components. */
  readonly acquisitions: readonly number[];
  readonly computations: readonly number[];
  /** Slots of its own identifiers. */
  readonly identifiers: readonly number[];
  readonly subject: Subject;
}

/** The facts of the observation of that index. Cost: about a microsecond. */
export function factsOf(world: World, index: number): Facts {
  const random = world.random('facts', index);
  const shape = shapeOf(index);
  const share = index < 20 ? index * 5 : random.below(100);
  const process = shape === 'noProcess' ? 'none' : processOf(share);
  const acquisitions = process === 'composite' ? 1 + Number(random.chance(20)) : Number(process === 'acquisition');
  const computations = process === 'composite' ? 1 + Number(random.chance(20)) : Number(process === 'computation');
  return {
    shape,
    publicationState: shape === 'removed' ? 'removed' : publicationStateOf(random.below(100)),
    process,
    acquisitions: slots(index * SLOTS.acquisitions, acquisitions),
    computations: slots(index * SLOTS.computations, computations),
    identifiers: slots(index * SLOTS.identifiers, identifierCount(shape, random.below(100))),
    subject: subjectOf(world, index),
  };
}

/** The slot of the observation collection that holds the observation, or -1: one in ten and a few more are in none. */
export function collectionOf(index: number): number {
  return index % 10 === 9 || shapeOf(index) === 'emptyLists' ? -1 : Math.floor(index / OBSERVATIONS_PER_COLLECTION);
}

/** The slot of the project that a collection's observations belong to; a few projects have most of them. */
export function projectOf(world: World, index: number): number {
  const random = world.random('project', Math.floor(index / OBSERVATIONS_PER_COLLECTION));
  return random.skewed(world.length('projects'));
}

/** The first and last moment of the times record in a slot, and the year it starts; the end is null while it lasts. */
export function periodOf(world: World, slot: number): { start: string; startYear: number; end: string | null } {
  const random = world.random('times', slot);
  const startYear = 2021 - random.skewed(70);
  const start = dateTimeText(random, startYear);
  const isOpen = edgeNumber(slot) >= 0 || random.chance(3);
  return { start, startYear, end: isOpen ? null : dateTimeText(random, startYear + 1 + random.skewed(12)) };
}

/** The slot of the times record that an observation links to. */
export function timeSlotOf(world: World, index: number): number {
  return world.random('time of observation', index).below(world.length('times'));
}

/** The slot of an observation's identifier for its computation or composite, and of its collection's, see `SLOTS`. */
export function extraIdentifier(index: number, owner: 'process' | 'collection'): number {
  return index * SLOTS.identifiers + (owner === 'process' ? 4 : 5);
}

function subjectOf(world: World, index: number): Subject {
  const random = world.random('subject', index);
  return {
    instrument: random.pick(INSTRUMENTS),
    place: placeName(random),
    project: projectName(world, projectOf(world, index)).acronym,
    quantity: spoken(random.pick(QUANTITIES).standardName),
    year: periodOf(world, timeSlotOf(world, index)).startYear,
  };
}

function processOf(share: number): Process {
  if (share < 84) return 'acquisition';
  if (share < 91) return 'computation';
  return share < 98 ? 'composite' : 'none';
}

function publicationStateOf(share: number): string {
  if (share < 52) return 'published';
  if (share < 88) return 'citable';
  if (share < 93) return 'old';
  return share < 96 ? 'preview' : 'working';
}

function identifierCount(shape: ObservationShape | undefined, share: number): number {
  if (shape === 'noIdentifiers' || shape === 'emptyLists') return 0;
  if (share < 18) return 0;
  if (share < 86) return 1;
  if (share < 96) return 2;
  return share < 98 ? 3 : 4;
}

function slots(first: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, n) => first + n);
}
