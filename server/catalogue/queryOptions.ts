import type { QueryOptions } from '../../engine/engine.ts';
import type { Settings } from '../settings/declarations.ts';

/** spec 8: the page size in all examples of links. */
const LIMIT_DEFAULT = 100;

export function queryOptionsOf(
  settings: Pick<Settings, 'strict' | 'limitMax' | 'filterErrors' | 'filters' | 'explain' | 'pinWalks'>,
): QueryOptions {
  const { strict: isStrict, limitMax, filterErrors, filters, explain: mayExplain, pinWalks: pinsWalks } = settings;
  return { limitDefault: LIMIT_DEFAULT, limitMax, isStrict, filterErrors, filters, mayExplain, pinsWalks };
}
