// Limits a run to named scenarios or tasks. An unknown name is refused, because a run of nothing must not pass. Pure.
import { OperationError } from '../../data/operationError.ts';

/** Those with a name in `only`, in their order; all of them if it is empty. Throws OperationError `usage`. */
export function chosenOf<T extends { readonly name: string }>(
  all: readonly T[],
  only: readonly string[],
): readonly T[] {
  const unknown = only.find((name) => !all.some((one) => one.name === name));
  if (unknown === undefined) return only.length === 0 ? all : all.filter(({ name }) => only.includes(name));
  throw new OperationError('usage', `there is no ${unknown}; --only takes ${all.map(({ name }) => name).join(', ')}`);
}
