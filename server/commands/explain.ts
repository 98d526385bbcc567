// `explain`: prints the plan of a request and the work it takes. Loads the data in this thread as serve does, or asks
// the server of a URL.
import type { Command } from 'commander';
import { addSettings, example, type Outputs } from './parts.ts';
import { readSettings, SAMPLE, type Settings } from '../settings/declarations.ts';
import type { Flags } from '../settings/sources.ts';
import { openData } from '../../data/open.ts';
import { OperationError } from '../../data/operationError.ts';
import { trustAuthorities } from '../../data/tls.ts';
import {
  type Ask,
  execute,
  explain,
  type IgnoredName,
  listHere,
  Meter,
  openSnapshot,
  parseJson,
  purposeName,
  SPEC_LINK_END,
} from '../../engine/engine.ts';
import { BUDGET_NS } from '../../workers/router.ts';
import { queryOptionsOf } from '../catalogue/queryOptions.ts';
import { requestedExport, formatsText, negotiate } from '../catalogue/negotiate.ts';
import { basePath, targetWithin } from '../http/exchange.ts';
import { askServer } from './question.ts';
import { openingOf } from '../process/loadGeneration.ts';
import { nearestPath, route } from '../catalogue/routes.ts';

export function defineExplain(command: Command, { stdout }: Outputs): void {
  command.argument('<request>', 'path with query, or URL: without data its server, which needs --explain, is asked');
  addSettings(command)
    .addHelpText('after', example("explain 'observations/?title__startswith=A'"))
    .action(async (request: string, flags: Flags) => {
      const settings = readSettings(flags);
      const isRemote = /^https?:/.test(request) && settings.data === SAMPLE;
      stdout.write(`${await (isRemote ? askPlan(settings, request) : explainRequest(settings, request))}\n`);
    });
}

/** More than any plan, whose values are cut. */
const PLAN_BYTES_MAX = 1 << 20;
const ANSWER_MS_MAX = 60_000;

/** The plan of a list as its server describes it (A68), as JSON. Throws OperationError `usage` or `network`. */
async function askPlan({ ca }: Settings, request: string): Promise<string> {
  const url = new URL(request);
  url.searchParams.set('explain', '1');
  if (url.protocol === 'https:') trustAuthorities(ca);
  const limits = { signal: AbortSignal.timeout(ANSWER_MS_MAX), bytesMax: PLAN_BYTES_MAX };
  const { status, body } = await askServer(url, limits).catch((cause: unknown) => {
    throw new OperationError('network', `${request}: ${String(cause)}`, cause);
  });
  const text = body ? Buffer.from(body).toString() : '';
  const response = parseJson(text);
  if (status === 200 && response instanceof Object && 'plan' in response) return JSON.stringify(response, null, 2);
  const cure = status === 200 ? 'no plan: start the server with --explain' : `status ${status}, ${text.slice(0, 500)}`;
  throw new OperationError('network', `${request}: ${cure}`);
}

/**
 * The plan of a list request, its count and its work, as lines. `request` is a URL or a path with query. Throws
 * OperationError `usage` if it is not a list or has an unknown format or invalid filters, and errors of loading the
 * data.
 */
export async function explainRequest(settings: Settings, request: string): Promise<string> {
  const baseUrl = settings.baseUrl ?? `http://localhost:${settings.port}`;
  const path = request.replace(/^https?:\/\/[^/]*/, '').replace(/^(?=[^/])/, '/api/v3/');
  const [asked, query] = splitOnce(path, '?');
  const target = targetWithin(asked, basePath(baseUrl));
  const asRouted = route(target);
  const view = asRouted.kind === 'redirect' ? route(asRouted.location) : asRouted;
  if (view.kind !== 'list') {
    const near = view.kind === 'notFound' ? nearestPath(target) : undefined;
    const meant = near === undefined ? '' : `; did you mean ${near}?`;
    const wanted = 'such as /api/v3/<collection>/; only lists have a plan';
    throw new OperationError('usage', `${target} is no list, ${wanted}${meant}`);
  }
  refuseFetching('explain', settings);
  const leftOut: string[] = [];
  const opening = openingOf(settings, (line) => leftOut.push(line));
  const loaded = await openData(settings.data, { baseUrl, ...opening }, () => undefined);
  const collection = openSnapshot(loaded).collection(view.collection.name);
  const form = { baseUrl, version: view.version, linkEnd: SPEC_LINK_END };
  const exported = requestedExport(undefined, view.ending);
  const options = { ...queryOptionsOf(settings), ...(exported && { exported }) };
  const budgeted = new Meter(BUDGET_NS);
  const { ask, plan, hits } = listHere(collection, query, { options, form, meter: budgeted });
  refuseFormat(ask);
  refuseProblems(ask);
  const meter = hits ? budgeted : new Meter();
  const { count } = hits ?? execute(collection, plan!, meter)!;
  const found = `found ${count} of ${collection.rows}${ofSample(settings)}: ${workOf(meter)}`;
  const place = hits
    ? 'in the serving thread'
    : `in the pool: the budget of ${BUDGET_NS / 1000} us ran out at ${purposeName(budgeted.purpose!)}`;
  const ignored = ask.ignored.length > 0 ? [`ignored: ${ask.ignored.map(nameOf).join(', ')}`] : [];
  return [...leftOut, explain(plan!).trimEnd(), found, place, ...ignored].join('\n');
}

/** A note after a count of records if no data was named. */
export function ofSample({ data }: Pick<Settings, 'data'>): string {
  return data === SAMPLE ? ' of the embedded sample' : '';
}

/** Throws OperationError `usage` if the data is to be fetched, which only servers do. */
export function refuseFetching(command: string, { from }: Pick<Settings, 'from'>): void {
  if (from === undefined) return;
  throw new OperationError('usage', `${command} does not fetch data: use --data instead of --from`);
}

function workOf({ counters, spent }: Meter): string {
  const { rowsTouched, postingsVisited, joinSteps, bytesScanned, rowsOrdered, rowsCounted } = counters;
  const joined = joinSteps > 0 ? `, ${joinSteps} join steps` : '';
  const ordered = rowsOrdered > 0 ? `, ${rowsOrdered} rows ordered` : '';
  const counted = rowsCounted > 0 ? `, ${rowsCounted} rows counted` : '';
  return `about ${Math.ceil(spent / 1000)} us, ${rowsTouched} rows touched, ${postingsVisited} postings visited${joined}, ${bytesScanned} bytes scanned${ordered}${counted}`;
}

function nameOf(ignored: IgnoredName): string {
  return typeof ignored === 'string' ? ignored : ignored.join('=');
}

function refuseFormat({ page: { format } }: Ask): void {
  if (negotiate({ accept: undefined, format, ending: undefined, mayExport: true }) !== 'unknownFormat') return;
  throw new OperationError('usage', `format: got ${JSON.stringify(format)}, want ${formatsText('or')}`);
}

/** Throws OperationError `usage` with the errors of a query, in the words of the API, each preceded by `of`. */
export function refuseProblems({ problems }: Pick<Ask, 'problems'>, of = ''): void {
  if (problems.length === 0) return;
  throw new OperationError(
    'usage',
    problems.map(({ key, messages }) => `${of}${key}: ${messages.join(' ')}`).join('\n'),
  );
}

function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}
