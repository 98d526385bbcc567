// A defect: every list takes a hop through the pool, however cheap it is.
import { answerList as answered, type Asker, type CollectionIndex } from '../../../engine/engine.ts';

export * from '../../../engine/engine.ts';

/** The list, found by a plan that is called heavy and has no walk, since a near page would be found at once. */
export function answerList<Answer>(
  collection: CollectionIndex,
  query: string | undefined,
  asker: Asker<Answer>,
): Answer | Promise<Answer> {
  return answered<Answer>(collection, query, {
    options: asker.options,
    path: asker.path,
    generation: asker.generation,
    stop: (ask) => asker.stop(ask),
    formOf: (ask) => asker.formOf(ask),
    find: (list) => asker.find({ ...list, plan: { ...list.plan, isHeavy: true, walk: undefined } }),
    miss: (list) => asker.miss(list),
    answer: (page, hits, list) => asker.answer(page, hits, list),
  });
}
