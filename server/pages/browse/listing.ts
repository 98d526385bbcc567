// What the parts of the page of a list are made of: the list as it was asked for and found. Types only; listPage.ts
// fills it in.
import type { Ask, CollectionIndex, Hits } from '../../../engine/engine.ts';
import type { FilterField } from '../../../engine/described.ts';
import type { Pair } from './address.ts';
import type { Site, Tour } from './site.ts';

/**
 * A list that was found; `pairs` are the parameters that hold, `query` is their text. `hasChoices` while these are
 * short enough to be repeated in every link and form that leads elsewhere, `hasWays` while they are for the few that
 * lead through the list and to its data; `isUncounted` where there was no time for counts that nobody asked for.
 */
export interface Listing {
  readonly site: Site;
  readonly tour: Tour;
  readonly collection: CollectionIndex;
  readonly fields: readonly FilterField[];
  readonly ask: Ask;
  readonly hits: Hits;
  readonly pairs: readonly Pair[];
  readonly query: string;
  readonly hasChoices: boolean;
  readonly hasWays: boolean;
  readonly isUncounted: boolean;
}
