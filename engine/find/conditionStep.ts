// One condition on the rows of a table: its codes if they are quick to find, an estimate of its rows, and its cost. The
// numbers only serve to order steps and to recognise cheap lists.
import type { CodeRange } from '../column/dictionary.ts';
import { isSpecForm, type ServedForm } from '../column/served.ts';
import type { FieldIndex } from '../index/field.ts';
import { gramQuery } from '../index/grams.ts';
import type { Words } from '../index/words.ts';
import type { Condition } from '../query/ask.ts';
import { codesOfOwnUrls } from '../query/codes.ts';
import { type Lookup, lookupNamed } from '../query/lookups.ts';
import type { Operand } from '../query/values.ts';
import { COST, setNs } from './passes.ts';
import { countOfCodes, knownCodesNs, rowsOfCodesNs } from './postings.ts';
import { scanNs } from './scan.ts';

export interface ConditionStep {
  readonly kind: 'condition';
  readonly path: readonly string[];
  readonly lookup: string;
  readonly operand: Operand;
  /** The codes that match; undefined if only a search, or a look-up of many values, finds them. */
  readonly codes: readonly CodeRange[] | undefined;
  /** Rows that match: exact if the codes are known, an upper bound for a search, otherwise an estimate. */
  readonly estimate: number;
  /** Estimated nanoseconds to find all matching rows; 0 if they are ready in the snapshot. */
  readonly ns: number;
}

export interface Sizing {
  /** The form in which own URLs are served. */
  readonly form: ServedForm;
  /** The number of values that the plan may still look up. */
  valuesToFind: number;
}

/** Limits on the values looked up while planning, of one condition and of one plan. */
const CONDITION_VALUES_MAX = 64;
export const PLAN_VALUES_MAX = 1024;

/** Maximum number of own URLs that planning converts to their served form. They take 30 us. */
const READ_URLS_MAX = 16;

/** Makes the step of a condition on the rows of an index. Cost: a binary search for each of at most 64 values. */
export function conditionStep({ path, lookup, operand }: Condition, index: FieldIndex, sizing: Sizing): ConditionStep {
  const named = lookupNamed(lookup)!;
  const values = operand.values.length;
  const urls = urlsRead(named, index, sizing.form);
  // The two ends of a range are not a list: they are always looked up.
  const valuesMax = Math.max(2, Math.min(CONDITION_VALUES_MAX, sizing.valuesToFind));
  const isQuick = values <= valuesMax && urls <= READ_URLS_MAX;
  if (isQuick) sizing.valuesToFind -= values;
  const codes = isQuick ? named.codes(index.dictionary, operand, sizing.form) : undefined;
  if (codes) {
    const [estimate, ns] = [countOfCodes(index, codes), knownCodesNs(index, codes)];
    return { kind: 'condition', path, lookup, operand, codes, estimate, ns };
  }
  const { estimate, ns } = named.pair
    ? { estimate: index.rows, ns: index.rows * COST.pair }
    : isQuick
      ? searchSize(index, named, operand)
      : listSize(index, operand);
  return { kind: 'condition', path, lookup, operand, codes, estimate, ns: ns + urls * COST.url };
}

/** The number of own URLs that a lookup converts to their served form to find its codes. */
export function urlsRead({ readsUrls }: Lookup, { dictionary }: FieldIndex, form: ServedForm): number {
  if (!readsUrls || isSpecForm(form)) return 0;
  const { start, end } = codesOfOwnUrls(dictionary);
  return end - start;
}

/** Cost in ns of looking up the values of an operand. */
export function valuesNs({ kind, values }: Operand): number {
  return values.length * (kind === 'text' ? COST.textValue : COST.number);
}

type Size = Pick<ConditionStep, 'estimate' | 'ns'>;

/** Estimate for many values: each is assumed to have as many rows as the average value of the column. */
function listSize(index: FieldIndex, operand: Operand): Size {
  const { size } = index.dictionary;
  const all = index.countOf({ start: 0, end: size });
  const { length } = operand.values;
  const estimate = Math.min(all, Math.ceil((length * all) / Math.max(1, size)));
  return { estimate, ns: valuesNs(operand) + rowsOfCodesNs(index, length, estimate) };
}

/**
 * Estimate for a search. It reads all texts, or the blocks of texts that n-grams select; each block has at least one
 * byte in the shortest list.
 */
function searchSize(index: FieldIndex, lookup: Lookup, operand: Operand): Size {
  const { dictionary, grams, words } = index;
  const { size, text } = dictionary;
  // Patterns are skipped: they have no needle, and making their search compiles them.
  const search = (grams || words) && lookup.pace !== 'pattern' ? lookup.search?.(operand) : undefined;
  if (words && search?.word) return wordSize(index, words);
  const query = grams && search?.needle && gramQuery(grams, search.needle);
  const codes = query ? Math.min(size, query.bytes * grams.block) : size;
  const part = codes / Math.max(1, size);
  const estimate = Math.ceil(part * index.countOf({ start: 0, end: size }));
  const own = codesOfOwnUrls(dictionary);
  const listNs = query ? query.bytes * (COST.listByte + COST.range) + codes * COST.text : 0;
  const searchNs = scanNs(lookup, codes, part * text.length) + (own.end - own.start) * COST.url;
  return { estimate, ns: listNs + searchNs + setNs(estimate, index.rows) };
}

/** Fraction of the rows that a word is assumed to be in: most searches are for rare words. */
const WORD_PART = 1 / 128;

/** Estimate for a word: reads the vocabulary and the lists of some words. */
function wordSize(index: FieldIndex, { vocabulary }: Words): Size {
  const estimate = Math.ceil(index.rows * WORD_PART);
  const vocabularyNs = vocabulary.text.length * COST.byte.plain;
  return { estimate, ns: vocabularyNs + estimate * COST.listByte + setNs(estimate, index.rows) };
}
