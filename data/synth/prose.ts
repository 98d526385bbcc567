// Sentences, paragraphs, names and dates made from the vocabulary. A sentence is a template whose slots in braces are
// filled with the subject's words or with drawn ones; templates are cut once, when the module loads.
import type { Random } from './random.ts';
import { INSTRUMENTS, KEYWORDS, ORGANISATIONS, PLACE_ENDS, PLACE_STARTS, QUANTITIES } from './words.ts';

/** What a text is about: the words that its sentences repeat. */
export interface Subject {
  readonly instrument: string;
  readonly place: string;
  readonly project: string;
  readonly quantity: string;
  readonly year: number;
}

/** A paragraph of `sentences` sentences about the subject, about 120 characters each. */
export function paragraph(random: Random, subject: Subject, sentences: number): string {
  let text = '';
  for (let n = 0; n < sentences; n++) text += (n === 0 ? '' : ' ') + sentence(random, random.pick(SENTENCES), subject);
  return text;
}

/** Two or more paragraphs, parted by an empty line. */
export function abstractText(random: Random, subject: Subject, paragraphs: number): string {
  const parts: string[] = [];
  for (let n = 0; n < paragraphs; n++) parts.push(paragraph(random, subject, random.between(2, 4)));
  return parts.join('\n\n');
}

/** One sentence on where the records come from. */
export function lineageText(random: Random, subject: Subject): string {
  return sentence(random, random.pick(LINEAGES), subject);
}

/** An invented place name, one of about 1,200. */
export function placeName(random: Random): string {
  return random.pick(PLACE_STARTS) + random.pick(PLACE_ENDS);
}

/** An invented organisation. */
export function organisationName(random: Random): string {
  return `${placeName(random)} ${random.pick(ORGANISATIONS)}`;
}

/** `atmospheric_thing_name` as words. */
export function spoken(standardName: string): string {
  return standardName.replaceAll('_', ' ');
}

/** A list of up to `most` free keywords, at least one, parted by comma and blank. */
export function keywordText(random: Random, most: number): string {
  const chosen = new Set<string>();
  for (let n = random.between(1, most); n > 0; n--) chosen.add(random.pick(KEYWORDS));
  return [...chosen].join(', ');
}

/** A date `YYYY-MM-DD` of that year; every month ends on its 28th here. */
export function dateText(random: Random, year: number): string {
  return `${year}-${twoDigits(random.between(1, 12))}-${twoDigits(random.between(1, 28))}`;
}

/** A date-time of that year without zone (spec 2.9); one in four carries microseconds, one in eight is a midnight. */
export function dateTimeText(random: Random, year: number): string {
  const date = dateText(random, year);
  if (random.below(8) === 0) return `${date}T00:00:00`;
  const time = `${twoDigits(random.below(24))}:${twoDigits(random.below(60))}:${twoDigits(random.below(60))}`;
  const fraction = random.below(4) === 0 ? `.${`${random.below(1_000_000)}`.padStart(6, '0')}` : '';
  return `${date}T${time}${fraction}`;
}

function twoDigits(value: number): string {
  return `${value}`.padStart(2, '0');
}

/** A cut template: literal texts at even places, slot names at odd ones. */
type Template = readonly string[];

function sentence(random: Random, template: Template, subject: Subject): string {
  let text = '';
  for (let n = 0; n < template.length; n++) text += n % 2 === 0 ? template[n]! : fill(random, template[n]!, subject);
  return text;
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
      return spoken(random.pick(QUANTITIES).standardName);
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

const SENTENCES = templates(`
This dataset holds measurements of {quantity} made by the {instrument} at {place}.
The {instrument} sampled every {small} seconds and its output was averaged to {small} minutes before it was archived.
Observations started in {year} and form part of the {project} project.
Values of {anotherQuantity} are included where the {anotherInstrument} was running beside the main instrument.
Calibration against a reference at {anotherPlace} was repeated every {small} days, and corrections below {small} per cent were applied.
Gaps longer than {small} hours are filled with the missing value and listed in the log that comes with the files.
Users should note that {anotherQuantity} below {large} metres is affected by sea spray, drizzle and local sources.
A quality flag accompanies each value; flags above {small} mark data that failed the range, step or persistence test.
The record was made within {project} to study how {quantity} responds to {anotherQuantity} over {small} years.
Retrievals use an optimal estimation scheme with {small} vertical levels and a priori profiles from {anotherPlace}.
Files are organised by day, with about {large} profiles in each and one summary file a month.
Model fields were interpolated to a regular grid of {small} kilometres and to {small} pressure levels.
An earlier version lacked the {anotherInstrument} correction and has been replaced.
The uncertainty of {quantity} was estimated as {small} per cent from {large} pairs of collocated soundings.
Flights from {anotherPlace} crossed the site {small} times at heights between {large} and {large} metres.
Please contact the project team of {project} before using {quantity} in trend analysis.
`);

const LINEAGES = templates(`
Data were produced by the {project} project team and delivered to the archive by network transfer in {year}.
Data were collected at {place} with the {instrument}, processed with software version {small}.{small} and checked by hand before archiving.
Derived from level 1 data of {anotherQuantity} by the team at {anotherPlace}, then converted to standard names.
Recovered from {small} tapes written at {anotherPlace}; {large} files were rebuilt and their checksums compared.
`);
