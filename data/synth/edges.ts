// The deliberate edge cases: texts and shapes that a correct service must carry unharmed, met by a few percent of the
// records. Which record meets which is a function of its index, so that small catalogues have them all too.

/**
 * Unusual texts, each one a trap that real catalogues have held. Written with escapes where an editor would hide them.
 */
export const EDGE_TEXTS: readonly string[] = [
  'Ångström exponent, naïve café, œuvre, ß and ẞ',
  'A\u030angstro\u0308m with combining marks, e\u0301 and a\u0323\u0302',
  '大気エアロゾル観測, 气溶胶光学厚度 and 관측 자료',
  'قياسات الغلاف الجوي and תצפיות',
  'Beyond the BMP: 🌡️ 🛰️ 👩🏽\u200d🔬 𝛼 𠜎',
  'line one\nline two\r\nline three\rline four',
  '\ttabs\tbetween\twords\t',
  'said "calibrated", \'raw\' and “corrected”',
  'C:\\instrument\\new\\u0041 and a final backslash \\',
  '',
  'before\u2028line separator, paragraph\u2029separator',
  'controls \u0000 \u0001 \b \f \u000b \u001b \u001f between words',
  'DEL \u007f, C1 \u0085 \u009f, no-break \u00a0, soft\u00adhyphen, zero\u200bwidth, mark \ufeff',
  '<p class="note">Markup &amp; <a href="https://example.org/?a=1&b=2">a link</a><br/></p>',
  'percent %41 %zz + plus & ampersand = equals , comma ; hash # question ?',
  '  blanks before, double  between and after  ',
  'case folds: İstanbul, ﬁeld, Ǆ ǅ ǆ, ΣΊΣΥΦΟΣ Σίσυφος, K (Kelvin sign)',
  'noncharacter \uffff and the last code point \u{10ffff}',
  '{braces} [brackets] ${dollar} $1 $& `ticks` null true 1e5',
  '__proto__',
];

/** Number tokens of volumes that a double cannot hold, or only just: served as written. */
export const HUGE_INTEGERS: readonly string[] = [
  '9007199254740991',
  '9007199254740993',
  '9223372036854775807',
  '18446744073709551617',
];

/** Shapes of an observation that are allowed but rare. Each says what is missing or odd in it. */
export type ObservationShape =
  | 'noIdentifiers'
  | 'emptyLists'
  | 'danglingLinks'
  | 'hugeVolume'
  | 'emptyTexts'
  | 'noPermissions'
  | 'permissionNulls'
  | 'noProcess'
  | 'removed'
  | 'longAbstract';

/** Every shape once, in the order in which indexes meet them. */
const OBSERVATION_SHAPES: readonly ObservationShape[] = [
  'noIdentifiers',
  'emptyLists',
  'danglingLinks',
  'hugeVolume',
  'emptyTexts',
  'noPermissions',
  'permissionNulls',
  'noProcess',
  'removed',
  'longAbstract',
];

/** The index's place among those that meet an edge text (one in 23), or -1 for the others. */
export function edgeNumber(index: number): number {
  return index % 23 === 5 ? Math.floor(index / 23) : -1;
}

/** The edge text of number `n`, going round the table; `n` is not negative. */
export function edgeText(n: number): string {
  return EDGE_TEXTS[n % EDGE_TEXTS.length]!;
}

/**
 * `text` as the record of that index has it: unchanged for most; joined with an edge text, before or after it in turn,
 * for one in 23; empty where that text is.
 */
export function edged(text: string, index: number, shift = 0): string {
  const n = edgeNumber(index);
  if (n < 0) return text;
  const edge = edgeText(n + shift);
  if (edge === '' || text === '') return edge;
  return n % 2 === 0 ? `${text} ${edge}` : `${edge} ${text}`;
}

/** The rare shape of an observation (one in 23 has one), or undefined. */
export function shapeOf(observation: number): ObservationShape | undefined {
  if (observation % 23 !== 11) return undefined;
  return OBSERVATION_SHAPES[Math.floor(observation / 23) % OBSERVATION_SHAPES.length];
}
