// Entry point of the pages: selects the page for a path below `/browse/`. Independent of HTTP requests and headers.
import { type Collection, countParts, PARAMETERS_MAX } from '../../../engine/engine.ts';
import { BROWSE_PREFIX, type Pair, queryOf } from './address.ts';
import { authorityPage, ROLE } from './authorityPage.ts';
import { docsPage } from './docsPage.ts';
import { inStep, notFoundPage, refusedPage } from './errorPage.ts';
import { feedPage, hasFeed, isFeedQuery } from './feed.ts';
import { type BrowsePage, fieldsOf, type Site, type Tour, type TrustedHosts } from './site.ts';
import { listPage } from './listPage.ts';
import { meantBy } from './own.ts';
import { recordPage, type RecordPlace } from './recordPage.ts';
import { startPage } from './startPage.ts';

/** The target of a visit. If nothing exists at its path, `near` is a similar path below the root, if there is one. */
export type Sight =
  | { readonly kind: 'start' }
  | { readonly kind: 'docs' }
  | { readonly kind: 'authority'; readonly hosts: TrustedHosts }
  | { readonly kind: 'list'; readonly collection: Collection }
  | ({ readonly kind: 'record' } & RecordPlace)
  | { readonly kind: 'nothing'; readonly near: string | undefined };

const NOTHING = Buffer.alloc(0);

/** Builds the page in steps, so that other requests run in between. Cost: see each page. */
export function browsed(site: Site, tour: Tour, sight: Sight): Promise<BrowsePage> {
  return inStep(site, tour, () => pageOf(site, tour, sight));
}

function pageOf(site: Site, tour: Tour, sight: Sight): BrowsePage | Promise<BrowsePage> {
  const sent = ownParameters(tour);
  switch (sight.kind) {
    case 'start':
      return startPage(site, tour);
    case 'docs':
      return docsPage(site, tour);
    case 'authority':
      return authorityPage(site, tour, sight.hosts, sent.find(([name]) => name === ROLE)?.[1]);
    case 'list':
      if (isFeedQuery(tour.query) && hasFeed(sight.collection)) return feedPage(site, tour, sight.collection);
      return listOrForm(site, tour, sight.collection, sent);
    case 'record':
      return recordPage(site, tour, sight);
    case 'nothing':
      return notFoundPage(site, tour, sight.near);
  }
}

function listOrForm(site: Site, tour: Tour, declared: Collection, sent: readonly Pair[]): ReturnType<typeof pageOf> {
  const meant = meantBy(sent, fieldsOf(site.collections(declared.name), site));
  if (!meant) return listPage(site, tour, declared);
  if (meant.kind === 'refused') return refusedPage(site, tour, declared, meant);
  return { status: 303, html: NOTHING, location: queryOf(meant.pairs) };
}

/**
 * All parameters of a query that comes from a form. Empty if it does not, or if it has too many parameters. Cost: the
 * query.
 */
function ownParameters({ query }: Tour): readonly Pair[] {
  if (query === undefined || !query.includes(BROWSE_PREFIX) || countParts(query, '&') > PARAMETERS_MAX) return [];
  return [...new URLSearchParams(query)];
}
