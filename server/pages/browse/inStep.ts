// A part of a page as a step of the thread's sliced work (workers/slices.ts): however many pages are asked for at once,
// others are answered between. A part takes some milliseconds and is never cut in two.
import { missedPage } from './errorPage.ts';
import type { BrowsePage, Site, Tour } from './site.ts';

/** The page that a step makes, or begins with; 503 where too many pages wait for theirs. Rejects where it throws. */
export async function inStep(
  site: Site,
  tour: Tour,
  step: () => BrowsePage | Promise<BrowsePage>,
): Promise<BrowsePage> {
  const made = await site.slices.run('pages', step, tour.disconnection);
  return typeof made === 'string' ? missedPage(site, tour, made) : made;
}
