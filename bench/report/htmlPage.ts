// The report as one HTML file that needs nothing else: the tables that a bench prints, and plots. Text only; nothing is
// measured or written to disk here.
import type { BudgetPlace } from '../budgets.ts';
import type { FullReport } from './fullReport.ts';
import { markupEscaped } from '../client/markup.ts';
import { growthsOf } from '../load/sizes.ts';
import { drawings, type Drawing } from './plots.ts';
import {
  growthTable,
  importTable,
  loadTable,
  peerTable,
  proxyTable,
  type ReportTable,
  soapTable,
  waitTable,
} from './report.ts';

// Tables and plots wider than the window scroll in boxes of their own, the first column of a table staying where it is.
const STYLE = `:root { color-scheme: light dark; --paper: #fff; --ink: #222; --faint: #555; --line: #ddd; --good: #05711f; --fair: #335; --bad: #b00020; }
@media (prefers-color-scheme: dark) { :root { --paper: #16181b; --ink: #e4e4e4; --faint: #aaa; --line: #3a3d42; --good: #4cc26a; --fair: #9db4e8; --bad: #ff6b7d; } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; color: var(--ink); background: var(--paper); }
h2 { line-height: 1.25; } .box { overflow-x: auto; }
table { border-collapse: collapse; font-size: 13px; } th, td { padding: 2px 6px; border-bottom: 1px solid var(--line); text-align: right; }
th:first-child, td:first-child, th:nth-child(2), td:nth-child(2) { text-align: left; } thead th { border-bottom: 2px solid #888; }
th:first-child, td:first-child { position: sticky; left: 0; background: var(--paper); } td:nth-child(2) { min-width: 9rem; }
td.great { color: var(--good); } td.pass { color: var(--fair); } .short { color: var(--bad); font-weight: 600; }
figure { margin: 2.5rem 0; } .legend { margin: 0 0 .5rem; font-size: 13px; } .legend span { white-space: nowrap; margin-right: 1em; }
figcaption { color: var(--faint); font-size: 13px; } svg { --plot-background: var(--paper) !important; max-width: none; }`;

/** The report as HTML: tables first, guarded as at `place`, then a plot for each question. */
export function htmlPage(report: FullReport, place: BudgetPlace | undefined): string {
  const { machine, revision, observations, load, waits, peers, imports, soap, proxied, sizes, failures } = report;
  const growths = growthsOf(sizes);
  const figures = drawings(report).map(figureOf);
  const parts = [
    `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Bench report</title><style>${STYLE}</style>`,
    '<h1>Bench report</h1>',
    `<p>Revision ${markupEscaped(revision)}, ${observations?.toLocaleString('en') ?? 'given'} observations, on ${markupEscaped(machine)}.`,
    'Costs are CPU time of all threads of the answering process, least of the interleaved rounds; microseconds are of this',
    'machine, what carries over are ratios.</p>',
    ...failures.map((failure) => `<p class="short">${markupEscaped(failure)}</p>`),
    '<h2>Scenarios</h2>',
    htmlTable(loadTable(load, place)),
    ...(waits.length > 0 ? ['<h2>What clients wait for</h2>', htmlTable(waitTable(waits, place))] : []),
    ...(peers.some((one) => one.peers.length > 0) ? ['<h2>Peers</h2>', htmlTable(peerTable(peers))] : []),
    ...(imports ? ['<h2>Loading all of it</h2>', htmlTable(importTable(imports))] : []),
    ...(soap.length > 0
      ? ['<h2>The attribute authority beside its controls and peers</h2>', htmlTable(soapTable(soap))]
      : []),
    ...(proxied.length > 0 ? ['<h2>Through proxies</h2>', htmlTable(proxyTable(proxied))] : []),
    ...(growths.length > 0 ? ['<h2>How costs grow with the catalogue</h2>', htmlTable(growthTable(growths))] : []),
    ...figures,
    '</html>',
  ];
  return `${parts.join('\n')}\n`;
}

function figureOf({ title, caption, svg, legend }: Drawing): string {
  const names = legend.map(
    ({ name, color }) => `<span><b style="color:${color}">&#9632;</b> ${markupEscaped(name)}</span>`,
  );
  const head = `<h2>${markupEscaped(title)}</h2><p class="legend">${names.join(' ')}</p>`;
  return `<figure>${head}<div class="box">${svg}</div><figcaption>${markupEscaped(caption)}</figcaption></figure>`;
}

function htmlTable([head = [], ...rows]: ReportTable): string {
  const line = (cells: readonly string[], tag: string): string =>
    `<tr>${cells.map((cell) => `<${tag}${classOf(cell)}>${markupEscaped(cell)}</${tag}>`).join('')}</tr>`;
  const body = rows.map((row) => line(row, 'td')).join('\n');
  return `<div class="box"><table><thead>${line(head, 'th')}</thead><tbody>${body}</tbody></table></div>`;
}

function classOf(cell: string): string {
  return ['great', 'pass', 'short'].includes(cell) ? ` class="${cell}"` : '';
}
