// Makes sentences, names and dates from the vocabulary. A sentence is a template whose slots in braces are filled with
// words of the subject or with random ones. Templates are parsed once, when the module loads.
import type { Random } from './random.ts';
import {
  EDGE_TEXTS,
  INSTRUMENTS,
  KEYWORDS,
  ORGANISATION_KINDS,
  ORGANISATION_NAMES,
  PLACES,
  QUANTITIES,
  type Place,
} from './words.ts';

/** The topic of a text: words that its sentences repeat. */
export interface Subject {
  readonly instrument: string;
  readonly place: string;
  readonly project: string;
  readonly quantity: string;
  readonly year: number;
}

/** A paragraph of `sentences` sentences about the subject, about 120 characters each. */
export function paragraph(random: Random, subject: Subject, sentences: number): string {
  const texts = Array.from({ length: sentences }, () => sentence(random, random.pick(SENTENCES), subject));
  return texts.join(' ');
}

/**
 * Paragraphs with an empty line between them. The first sentence states the quantity, the instrument and the place, and
 * usually the year.
 */
export function abstractText(random: Random, subject: Subject, paragraphs: number): string {
  const texts = Array.from({ length: paragraphs }, () => paragraph(random, subject, random.between(1, 4)));
  return `${sentence(random, random.pick(OPENINGS), subject)} ${texts.join('\n\n')}`;
}

/** One sentence about the origin of the records. */
export function lineageText(random: Random, subject: Subject): string {
  return sentence(random, random.pick(LINEAGES), subject);
}

/** The name of a place as in a sentence. */
export function placeName(random: Random): string {
  return random.pick(PLACES).name;
}

/** The name of a place alone, without an article. */
export function nameOf({ name }: Place): string {
  return capitalise(name.replace(/^the (whole )?/, ''));
}

export function organisationName(random: Random): string {
  return `${random.pick(ORGANISATION_NAMES)} ${random.pick(ORGANISATION_KINDS)}`;
}

/** A standard name such as `atmospheric_thing_name` as words. */
export function speak(standardName: string): string {
  return standardName.replaceAll('_', ' ');
}

export function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A list of one to `max` free keywords, separated by comma and blank. */
export function keywordText(random: Random, max: number): string {
  const chosen = new Set<string>();
  for (let n = random.between(1, max); n > 0; n--) chosen.add(random.pick(KEYWORDS));
  return [...chosen].join(', ');
}

/** A date `YYYY-MM-DD` of a year. The day is at most 28. */
export function dateText(random: Random, year: number): string {
  return `${year}-${twoDigits(random.between(1, 12))}-${twoDigits(random.between(1, 28))}`;
}

/** A date-time of a year without zone (spec 2.9). One in four has microseconds, one in eight is midnight. */
export function dateTimeText(random: Random, year: number): string {
  const date = dateText(random, year);
  if (random.below(8) === 0) return `${date}T00:00:00`;
  const time = `${twoDigits(random.below(24))}:${twoDigits(random.below(60))}:${twoDigits(random.below(60))}`;
  const fraction = random.below(4) === 0 ? `.${`${random.below(1_000_000)}`.padStart(6, '0')}` : '';
  return `${date}T${time}${fraction}`;
}

/** The number of the edge text of an index, which one index in 23 has; -1 for the others. */
export function edgeNumber(index: number): number {
  return index % 23 === 5 ? Math.floor(index / 23) : -1;
}

/** The edge text of a number from 0 on. The list is repeated. */
export function edgeText(n: number): string {
  return EDGE_TEXTS[n % EDGE_TEXTS.length]!;
}

/**
 * The text of the record with this index. One in 23 has an edge text before or after it, alternating. The result is the
 * edge text alone if it or `text` is empty.
 */
export function addEdge(text: string, index: number, shift = 0): string {
  const n = edgeNumber(index);
  if (n < 0) return text;
  const edge = edgeText(n + shift);
  if (edge === '' || text === '') return edge;
  return n % 2 === 0 ? `${text} ${edge}` : `${edge} ${text}`;
}

function twoDigits(value: number): string {
  return `${value}`.padStart(2, '0');
}

/** A parsed template: literal texts at even indexes, slot names at odd ones. */
type Template = readonly string[];

function sentence(random: Random, template: Template, subject: Subject): string {
  let text = '';
  for (let n = 0; n < template.length; n++) text += n % 2 === 0 ? template[n]! : fill(random, template[n]!, subject);
  return capitalise(text);
}

function fill(random: Random, slot: string, subject: Subject): string {
  switch (slot) {
    case 'instrument':
    case 'place':
    case 'project':
    case 'quantity':
    case 'year':
      return `${subject[slot]}`;
    case 'anotherInstrument':
      return random.pick(INSTRUMENTS);
    case 'anotherPlace':
      return placeName(random);
    case 'anotherQuantity':
      return speak(random.pick(QUANTITIES).standardName);
    default:
      return `${random.between(2, slot === 'large' ? 5000 : 60)}`;
  }
}

function templates(text: string): readonly Template[] {
  return text
    .trim()
    .split('\n')
    .map((line) => line.split(/[{}]/));
}

const OPENINGS = templates(`
This dataset holds measurements of {quantity} made with the {instrument} around {place}.
{quantity} around {place} was measured with the {instrument} from {year} on.
The {project} project measured {quantity} around {place} with the {instrument} in {year}.
`);

const SENTENCES = templates(`
The {instrument} sampled every {small} seconds and its output was averaged to {small} minutes before it was archived.
Observations started in {year} and form part of the {project} project.
Values of {anotherQuantity} are included where the {anotherInstrument} was running next to the main instrument.
Calibration against a reference in {anotherPlace} was repeated every {small} days, and corrections below {small} per cent were applied.
Gaps longer than {small} hours are filled with the missing value and listed in the log that comes with the files.
Users should note that {anotherQuantity} below {large} metres is affected by sea spray, drizzle and local sources.
A quality flag accompanies each value; flags above {small} mark data that failed the range, step or persistence test.
The record was made within {project} to study how {quantity} responds to {anotherQuantity} over {small} years.
Retrievals use an optimal estimation scheme with {small} vertical levels and a priori profiles from {anotherPlace}.
Files are organised by day, with about {large} profiles in each and one summary file a month.
Model fields were interpolated to a regular grid of {small} kilometres and to {small} pressure levels.
An earlier version lacked the {anotherInstrument} correction and has been replaced.
The uncertainty of {quantity} was estimated as {small} per cent from {large} pairs of collocated soundings.
Flights from {anotherPlace} crossed {place} {small} times at heights between {large} and {large} metres.
Please contact the project team of {project} before using {quantity} in trend analysis.
`);

const LINEAGES = templates(`
Data were produced by the {project} project team and delivered to the archive by network transfer in {year}.
Data were collected around {place} with the {instrument}, processed with software version {small}.{small} and checked by hand before archiving.
Derived from level 1 data of {anotherQuantity} by the team in {anotherPlace}, then converted to standard names.
Recovered from {small} tapes written in {anotherPlace}; {large} files were rebuilt and their checksums compared.
`);
