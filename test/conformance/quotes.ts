// How a conformance test quotes what it tests: the quoted text is the test's name, and coverage.test.ts finds it by the
// name of the function. A quote is a plain string literal in the first argument.
import { test } from 'vitest';

/** A test of a sentence of the specification. */
export function spec(quote: string, check: () => void | Promise<void>): void {
  test(`spec: ${quote}`, check);
}

/** A test of a sentence of the design, which decides where the specification is silent. */
export function design(quote: string, check: () => void | Promise<void>): void {
  test(`design: ${quote}`, check);
}

/** Whether a value read from JSON has the shape that a row of a table describes. */
export type Shape = (value: unknown) => boolean;

/** A row of one of the specification's field tables: its cells as quoted, the field's name, the shape they describe. */
export interface Row {
  readonly quote: string;
  readonly field: string;
  readonly shape: Shape;
}

/** Quotes a row of a field table; its first cell is the field's name. */
export function row(quote: string, shape: Shape): Row {
  return { quote, field: quote.split(' | ')[0] ?? '', shape };
}
