// Error pages, with the frame of all other pages. Each names the error and the nearest way out of it.
import { type Ask, type Collection, COLLECTIONS } from '../../../engine/engine.ts';
import type { MissReason } from '../../../workers/protocol.ts';
import { isRepeatable, type Pair, queryOf, withoutNames } from './address.ts';
import { collectionLabel, inSentence, kindLabel } from '../../../engine/described.ts';
import { type BrowsePage, fieldsOf, type Site, type Tour } from './site.ts';
import { filterForm } from './facets.ts';
import { findForm, FOUND_BY } from './findForm.ts';
import { framed } from './frame.ts';
import { entryOf } from './own.ts';
import { html, type Markup } from './template.ts';
import { cut } from './values.ts';

const PATH_CHARACTERS_MAX = 200;
const PROBLEMS_MAX = 50;
const MESSAGE_CHARACTERS_MAX = 1000;
/**
 * Matches the engine's suggestion for a misspelled name. The first group is the wrong name if it is in a value, the
 * second group is the suggested name.
 */
const CORRECTIONS = /^(?:Unknown field "(.*)"\. |.* )?Did you mean "([^"]+)"\?$/s;

/** 404. `near` is a similar path below the root, such as `browse/times/`. */
export function notFoundPage(site: Site, tour: Tour, near: string | undefined): BrowsePage {
  const all = COLLECTIONS.map(
    ({ name }) => html`<li><a href="${tour.up}browse/${name}/">${collectionLabel(name)}</a></li>`,
  );
  const main = html`${near !== undefined && html`<p class="lead">Did you mean <a href="${tour.up}${near}">${near}</a>?</p>`}
    ${nothingAt(tour)}
    <h2>Collections</h2>
    <ul class="names">
      ${all}
    </ul>`;
  return errorPage(site, tour, 404, { title: 'Not found', main });
}

export function noRecordPage(site: Site, tour: Tour, { name }: Collection): BrowsePage {
  const main = html`${nothingAt(tour)}
    <p><a href="${tour.up}browse/${name}/">All ${inSentence(collectionLabel(name))}</a></p>`;
  return errorPage(site, tour, 404, { title: `No such ${inSentence(kindLabel(name))}`, main });
}

function nothingAt({ target }: Tour): Markup {
  return html`<p>
    Nothing is at <code><bdi>${cut(target, PATH_CHARACTERS_MAX)}</bdi></code
    >.
  </p>`;
}

/** A query with problems. */
interface Refused {
  readonly problems: Ask['problems'];
  readonly pairs: readonly Pair[] | undefined;
  /** If a form was refused: the pairs without its condition. */
  readonly before?: readonly Pair[];
}

/**
 * 400: lists each refused parameter with its reason and with links that correct the query, followed by the filter form.
 */
export function refusedPage(site: Site, tour: Tour, declared: Collection, refused: Refused): BrowsePage {
  const { problems, pairs = [], before } = refused;
  const records = inSentence(collectionLabel(declared.name));
  const canRepeat = isRepeatable(pairs);
  const items = problems.slice(0, PROBLEMS_MAX).map(({ key, messages }) => {
    const meant = canRepeat ? meantBy(pairs, key, messages) : undefined;
    const other = meant && html` <a href="${queryOf(meant.pairs)}">Use <code>${meant.name}</code></a> or`;
    const leave = other ? 'leave it out' : 'Leave it out';
    const less = canRepeat && html`${other} <a href="${queryOf(before ?? withoutNames(pairs, key))}">${leave}</a>.`;
    return html`<li>
      <code><bdi>${cut(key, MESSAGE_CHARACTERS_MAX)}</bdi></code
      >: <bdi>${cut(messages.join(' '), MESSAGE_CHARACTERS_MAX)}</bdi>${less}
    </li>`;
  });
  const main = html`<p class="lead">A part of this address does not apply to ${records}.</p>
    <ul class="problems">
      ${items}
    </ul>
    ${refused.pairs && correctionForm(site, declared, { ...refused, pairs })}
    <p><a href="?">All ${records}</a></p>`;
  return errorPage(site, tour, 400, { title: 'This list cannot be shown', main });
}

/**
 * The form that corrects a query: that for words, period and place if one of these is refused, otherwise the filter
 * form with the first refused filter that it can express. Cost: for each problem, the query and the fields.
 */
function correctionForm(
  site: Site,
  declared: Collection,
  { problems: all, pairs, before }: Refused & { readonly pairs: readonly Pair[] },
): Markup | false {
  const fields = fieldsOf(site.collections(declared.name), site);
  const problems = all.slice(0, PROBLEMS_MAX);
  const [first] = problems.flatMap(({ key, messages }) => {
    const entry = entryOf([key, pairs.findLast(([name]) => name === key)?.[1] ?? ''], fields);
    return entry ? [{ key, entry: { ...entry, message: cut(messages.join(' '), MESSAGE_CHARACTERS_MAX) } }] : [];
  });
  const collection = site.collections(declared.name);
  const isFound = problems.some(({ key }) => FOUND_BY.includes(key));
  if (isFound && isRepeatable(pairs)) return findForm(site, collection, pairs);
  const rest = before ?? withoutNames(pairs, ...(first ? [first.key] : problems.map(({ key }) => key)));
  return isRepeatable(rest) && filterForm({ collection, fields, pairs: rest }, first?.entry);
}

/**
 * Applies the suggestions in `messages` to the query, either to the name of a parameter or to the names in its value.
 * `name` is the first suggestion.
 */
function meantBy(
  pairs: readonly Pair[],
  key: string,
  messages: readonly string[],
): { readonly name: string; readonly pairs: readonly Pair[] } | undefined {
  const renames = new Map<string | undefined, string>();
  for (const message of messages) {
    const [, wrong, meant] = CORRECTIONS.exec(message) ?? [];
    if (meant !== undefined) renames.set(wrong, meant);
  }
  const [name] = renames.values();
  if (name === undefined) return undefined;
  const renamed = (member: string): string => {
    const [, sign = '', field = ''] = /^\s*(-?)\s*(.*?)\s*$/s.exec(member) ?? [];
    return sign + (renames.get(field) ?? field);
  };
  const meant = ([each, value]: Pair): Pair => {
    const to = renames.get(undefined);
    return to === undefined ? [each, value.split(',').map(renamed).join(',')] : [to, value];
  };
  return { name, pairs: pairs.map((pair) => (pair[0] === key ? meant(pair) : pair)) };
}

/** 503: the query took too long, or the server is too busy. */
export function missedPage(site: Site, tour: Tour, why: MissReason): BrowsePage {
  const [title, text] =
    why === 'overtime'
      ? ['This took too long', 'Add a filter that leaves fewer records.']
      : ['Too busy at the moment', 'Too much is under way. Try again shortly.'];
  return errorPage(site, tour, 503, { title, main: html`<p class="lead">${text}</p>` });
}

function errorPage(
  site: Site,
  tour: Tour,
  status: number,
  { title, main }: { readonly title: string; readonly main: Markup },
): BrowsePage {
  const crumbs = [{ label: String(status) }];
  return {
    status,
    html: framed(site, tour, {
      title,
      crumbs,
      main: html`<h1>${title}</h1>
        ${main}`,
    }),
  };
}

/**
 * Runs a step that builds a page or starts to build it. Returns a 503 page if too many pages wait for their step.
 * Rejects if the step throws.
 */
export async function inStep(
  site: Site,
  tour: Tour,
  step: () => BrowsePage | Promise<BrowsePage>,
): Promise<BrowsePage> {
  const made = await site.slices.run('pages', step, tour.disconnection);
  return typeof made === 'string' ? missedPage(site, tour, made) : made;
}
