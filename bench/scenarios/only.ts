// Which scenarios or tasks a run is limited to. A name that fits none is refused, so that nothing passes by not
// running. Pure.
import { OperationError } from '../../data/operationError.ts';

/** Those of the names in `only`, in their own order; all of them when it is empty. Throws OperationError `usage`. */
export function chosenOf<T extends { readonly name: string }>(
  all: readonly T[],
  only: readonly string[],
): readonly T[] {
  const unknown = only.find((name) => !all.some((one) => one.name === name));
  if (unknown === undefined) return only.length === 0 ? all : all.filter(({ name }) => only.includes(name));
  throw new OperationError('usage', `there is no ${unknown}; --only takes ${all.map(({ name }) => name).join(', ')}`);
}
