// Phenomena (spec 2.5) and the vocabulary terms behind them. Terms live in pools by label: phenomena that carry the
// same term carry the same term id.
import { EDGE_TEXTS, edgeNumber, edgeText } from './edges.ts';
import { list, quote, record, type Json } from './json.ts';
import { spoken } from './prose.ts';
import type { Source } from './source.ts';
import { QUANTITIES, type Quantity } from './words.ts';
import type { World } from './world.ts';

/** Slots of the phenomena of an observation, without repeats: most have a handful, some have dozens. */
export function phenomenaOf(world: World, index: number): readonly number[] {
  const random = world.random('phenomena of observation', index);
  const length = world.length('phenomona');
  const slots = new Set<number>();
  for (let n = 1 + random.skewed(random.chance(10) ? 60 : 24); n > 0; n--) slots.add(random.below(length));
  return [...slots];
}

/** Phenomena: declared shape. */
export const phenomena: Source = {
  length: (world) => world.length('phenomona'),
  records(world, slot) {
    const place = slot % QUANTITIES.length;
    const names = slot % 3 === 0 ? [] : [{ id: 1 + place, name: spoken(QUANTITIES[place]!.standardName) }];
    return [
      record({
        ob_id: `${world.id('phenomona', slot)}`,
        names: list(names.map(({ id, name }) => record({ ob_id: `${id}`, name: quote(name) }))),
        terms: list(terms(slot, place)),
      }),
    ];
  },
};

/** Vocabulary terms: shape of the public documents. */
export const vocabularyTerms: Source = {
  length: () => QUANTITIES.length,
  records(world, slot) {
    const { standardName } = QUANTITIES[slot]!;
    return [
      record({
        ob_id: `${world.id('vocabularyterms', slot)}`,
        vocabService: quote('cf_standard_names'),
        uri: quote(`https://vocabulary.example.org/standard_name/${standardName}/`),
        resolvedTerm: quote(standardName),
      }),
    ];
  },
};

/** The terms of a phenomenon, turned so that their order is not fixed; one phenomenon in six has a single term. */
function terms(slot: number, place: number): readonly Json[] {
  const quantity = QUANTITIES[place]!;
  const variant = Math.floor(slot / QUANTITIES.length);
  const all = [
    standardNameTerm(place, quantity),
    unitsTerm(slot % 11 === 4 ? '' : quantity.units),
    variableTerm(slot, quantity.variable, variant),
    longNameTerm(slot, quantity, variant),
  ];
  const turn = slot % all.length;
  const turned = [...all.slice(turn), ...all.slice(0, turn)];
  return slot % 6 === 5 ? turned.slice(0, 1) : turned;
}

function standardNameTerm(place: number, quantity: Quantity): Json {
  return term(FIRST_TERM.standard_name + place, 'standard_name', quantity.standardName, 'cf_standard_names');
}

function unitsTerm(units: string): Json {
  return term(FIRST_TERM.units + UNITS.indexOf(units), 'units', units, '');
}

function variableTerm(slot: number, variable: string, variant: number): Json {
  return term(FIRST_TERM.var_id + slot, 'var_id', variant === 0 ? variable : `${variable}_${variant}`, '');
}

/** An edge text where the slot meets one; else one long name for every two variants, so that these terms are shared. */
function longNameTerm(slot: number, quantity: Quantity, variant: number): Json {
  const n = edgeNumber(slot);
  if (n >= 0) return term(FIRST_TERM.edge + (n % EDGE_TEXTS.length), 'long_name', edgeText(n), '');
  const level = Math.floor(variant / 2);
  const id = FIRST_TERM.long_name + level * QUANTITIES.length + (slot % QUANTITIES.length);
  return term(id, 'long_name', `${spoken(quantity.standardName)}${level === 0 ? '' : ` on level ${level}`}`, '');
}

function term(id: number, label: string, value: string, vocabulary: string): Json {
  return record({ ob_id: `${id}`, label: quote(label), value: quote(value), vocabulary: quote(vocabulary) });
}

const UNITS: readonly string[] = ['', ...new Set(QUANTITIES.map((quantity) => quantity.units))];

/** First term ids of the pools; `long_name` and `var_id` grow with the catalogue and have room for any. */
const FIRST_TERM = {
  standard_name: 1,
  units: 501,
  edge: 1_000_000_000,
  var_id: 2_000_000_000,
  long_name: 1001,
} as const;
