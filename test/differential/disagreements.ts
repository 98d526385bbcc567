/** A request with differing responses, in a form that can be repeated, and lines that describe the difference. */
export interface Disagreement {
  readonly request: string;
  readonly lines: readonly string[];
}

/** The first ten usually share a cause with all others. */
export const PRINTED_MAX = 10;
const SHOWN_BEFORE = 60;
const SHOWN_BEHIND = 120;

/** Says which side refuses a request on which they disagree. */
export function refusalLine(oracleRefuses: boolean, productRefuses: boolean): string {
  if (oracleRefuses && productRefuses) return 'both refuse, in other words';
  if (oracleRefuses) return 'the oracle refuses, the product does not';
  return productRefuses ? 'the product refuses, the oracle does not' : 'neither refuses';
}

/** The expected and the actual text, each cut to the surroundings of the first difference. */
export function partingLines(expected: string, got: string): readonly string[] {
  let at = 0;
  while (at < expected.length && expected[at] === got[at]) at++;
  const start = Math.max(0, at - SHOWN_BEFORE);
  const around = (text: string): string => {
    const isCut = text.length > at + SHOWN_BEHIND;
    const part = text.slice(start, at + SHOWN_BEHIND).replaceAll('\n', '\\n');
    return `${start > 0 ? '...' : ''}${part}${isCut ? '...' : ''}`;
  };
  return [`expected (oracle) ${around(expected)}`, `got (product)     ${around(got)}`];
}

/** Prints disagreements until PRINTED_MAX have been printed, over all calls, and only totals from then on. */
export class DisagreementReport {
  #left = PRINTED_MAX;

  /**
   * The text of `found`, which may be only the first of `total` disagreements among `asked` requests. `origin` names
   * the seed.
   */
  text(origin: string, found: readonly Disagreement[], { total, asked }: { total: number; asked: number }): string {
    const shown = found.slice(0, this.#left);
    this.#left -= shown.length;
    const lines = shown.flatMap(({ request, lines }) => [request, ...lines.map((line) => `  ${line}`)]);
    const rest = shown.length > 0 ? `, of which ${shown.length} follow` : '; as many as are printed stand above';
    return [`${origin}: ${total} of ${asked} requests disagree${total > shown.length ? rest : ''}`, ...lines].join(
      '\n',
    );
  }
}
