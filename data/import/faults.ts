// The faulty lines of one file of a data set: told with file, line and JSON pointer up to a number, counted beyond.
// Decides whether an import goes on with them; reads nothing.
import type { LineFault } from './batch.ts';
import { OperationError } from '../operationError.ts';

/** How many faulty lines are told one by one; the others are counted. */
export const FAULTS_TOLD = 20;

/** Those of `file`: `end` refuses them, unless the import `isLenient`. */
export class Faults {
  /** FAULTS_TOLD at most of `count`. */
  readonly told: string[] = [];
  count = 0;
  #nulls = 0;
  readonly #file: string;
  readonly #isLenient: boolean;

  constructor(file: string, isLenient: boolean) {
    this.#file = file;
    this.#isLenient = isLenient;
  }

  /** Notes one. */
  add({ line, pointer, message, isNull }: LineFault): void {
    this.count++;
    if (isNull === true) this.#nulls++;
    if (this.told.length < FAULTS_TOLD)
      this.told.push(`${this.#file}:${line}: ${pointer === '' ? '' : `${pointer}: `}${message}`);
  }

  /** Throws OperationError `input`, which tells of all, where there are some that the import does not leave out. */
  end(): void {
    if (this.count === 0 || this.#isLenient) return;
    const more = this.count - this.told.length;
    const rest = more > 0 ? [`... and ${more} more`] : [];
    const cure = `${this.count} faulty line${this.count === 1 ? '' : 's'}; --lenient leaves such lines out`;
    const nulls = this.#nulls === 0 ? '' : `; --take-nulls takes the null that makes ${this.#nulls} of them faulty`;
    throw new OperationError('input', [...this.told, ...rest, cure + nulls].join('\n'));
  }
}
