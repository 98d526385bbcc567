// Reads metrics in the text form that Prometheus reads, as far as servers like ours write it: names, labels, values.
// Pure; the libraries that do so are not kept any more. Source: the exposition format, version 0.0.4.

/** One value with its labels. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LINE = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)(?: -?\d+)?$/;
const LABEL = /([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)",?/gy;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', '"': '"', '\\': '\\' };

/** The samples of a text by name; undefined where a line is none. Cost: one pass. */
export function scrapedSamples(text: string): ReadonlyMap<string, readonly Sample[]> | undefined {
  const samples = new Map<string, Sample[]>();
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const [, name, labelText = '', valueText = ''] = LINE.exec(line) ?? [];
    const labels = labelsIn(labelText);
    const value = valueText === '+Inf' ? Infinity : valueText === '-Inf' ? -Infinity : Number(valueText);
    if (name === undefined || !labels || (Number.isNaN(value) && !/^nan$/i.test(valueText))) return undefined;
    const known = samples.get(name);
    if (known) known.push({ labels, value });
    else samples.set(name, [{ labels, value }]);
  }
  return samples;
}

function labelsIn(text: string): Readonly<Record<string, string>> | undefined {
  const labels: Record<string, string> = {};
  let end = 0;
  for (const match of text.matchAll(LABEL)) {
    labels[match[1]!] = match[2]!.replace(/\\(.)/g, (whole, letter: string) => ESCAPES[letter] ?? whole);
    end = match.index + match[0].length;
  }
  return end === text.length ? labels : undefined;
}
