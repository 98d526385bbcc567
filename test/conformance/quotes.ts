// A conformance test names its source: a sentence of the specification, as a plain string literal that coverage.test.ts
// can find, or numbers of engine/schema/ASSUMPTIONS.md if the specification does not cover it.
import { test } from 'vitest';

/** A test of a sentence of the specification. */
export function spec(quote: string, check: () => void | Promise<void>): void {
  test(`spec: ${quote}`, check);
}

/** A test of assumptions, such as `A61, A64`; the name completes "it ...". */
export function assumption(ids: string, name: string, check: () => void | Promise<void>): void {
  test(`${ids}: ${name}`, check);
}

/** Whether a value parsed from JSON has the shape that a row of a table describes. */
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
