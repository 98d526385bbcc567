// What a maker of records is: how often it is called,
// and what it makes of each index. Type only.
import type { Json } from './json.ts';
import type { World } from './world.ts';

/**
 * The maker of one collection. `length` is the number of indexes; `records` the records of one index, ascending by id:
 * one for most collections, none or several where an index is an owner (an observation's acquisitions). The ids of a
 * higher index are higher. Both are functions of their arguments alone.
 */
export interface Source {
  length(world: World): number;
  records(world: World, index: number): readonly Json[];
}
