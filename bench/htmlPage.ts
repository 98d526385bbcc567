// The report as one HTML file that needs nothing else, and as a short table in Markdown.
// Text only; nothing is measured or written to disk here. Called by bench.ts.
import type { FullReport } from './fullReport.ts';
import { drawings, type Drawing } from './plots.ts';
import { peerNames, SOAP_HEAD, soapCells, timesText } from './report.ts';
import { verdictOf } from './verdict.ts';

const STYLE = `body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; font-size: 13px; } th, td { padding: 2px 10px; border-bottom: 1px solid #ddd; text-align: right; }
th:first-child, td:first-child, th:nth-child(2), td:nth-child(2) { text-align: left; } thead th { border-bottom: 2px solid #888; }
.great { color: #05711f; } .pass { color: #335; } .short { color: #b00020; font-weight: 600; }
figure { margin: 2.5rem 0; } .legend { margin: 0 0 .5rem; font-size: 13px; } figcaption { color: #555; font-size: 13px; } svg { max-width: 100%; height: auto; }`;

/** The report as HTML: tables first, then a plot for each question. */
export function htmlPage(report: FullReport): string {
  const { machine, revision, observations, load, mixed, peers, soap } = report;
  const figures = drawings(report).map(figureOf);
  const parts = [
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>Bench report</title><style>${STYLE}</style>`,
    '<h1>Bench report</h1>',
    `<p>Revision ${escaped(revision)}, ${observations.toLocaleString('en')} observations, on ${escaped(machine)}.`,
    'Costs are CPU time of all threads of the answering process, least of the interleaved rounds; microseconds are of this',
    'machine, what carries over are ratios.</p>',
    '<h2>Scenarios</h2>',
    htmlTable(LOAD_HEAD, load.map(loadCells)),
    ...(mixed.length > 0
      ? ['<h2>One heavy client beside cheap ones</h2>', htmlTable(MIXED_HEAD, mixed.map(mixedCells))]
      : []),
    ...(peers.some((one) => one.peers.length > 0) ? ['<h2>Peers</h2>', peerHtml(report)] : []),
    ...(soap.length > 0
      ? ['<h2>The attribute authority beside its controls and peers</h2>', htmlTable(SOAP_HEAD, soap.map(soapCells))]
      : []),
    ...figures,
    '</html>',
  ];
  return `${parts.join('\n')}\n`;
}

function figureOf({ title, caption, svg, legend }: Drawing): string {
  const names = legend.map(({ name, color }) => `<span style="color:${color}">&#9632;</span> ${escaped(name)}`);
  const head = `<h2>${escaped(title)}</h2><p class="legend">${names.join(' &nbsp; ')}</p>`;
  return `<figure>${head}${svg}<figcaption>${escaped(caption)}</figcaption></figure>`;
}

const LOAD_HEAD = 'Scenario,What,CPU us,Control us,Control,Ratio,Spread,Control spread,Pass,Great,Verdict'.split(',');
const MIXED_HEAD = 'Figure,What,Ratio,Spread alone,Pass,Great,Verdict'.split(',');

function loadCells({ scenario, subject, control, ratio }: FullReport['load'][number]): readonly string[] {
  const { name, what, pass, great } = scenario;
  const compared = typeof scenario.control === 'string' ? scenario.control : scenario.control.scenario;
  const costs = [subject.least.toFixed(1), control.least.toFixed(1), compared, ratio.toFixed(2)];
  const spreads = [percentText(subject.spread), percentText(control.spread)];
  const verdict = verdictOf({ ratio, spread: control.spread, pass, great });
  return [name, what, ...costs, ...spreads, String(pass ?? '-'), String(great ?? '-'), verdict];
}

function mixedCells({ name, what, ratio, spread, pass, great }: FullReport['mixed'][number]): readonly string[] {
  const verdict = verdictOf({ ratio, spread, pass, great });
  return [name, what, ratio.toFixed(2), percentText(spread), pass.toFixed(2), great.toFixed(2), verdict];
}

function peerHtml({ peers }: FullReport): string {
  const names = peerNames(peers);
  const rows = peers.map(({ question, subject, peers: others }) => {
    const times = names.map((name) => timesText(others.find(({ peer }) => peer === name)?.ratio));
    return [question.name, question.what, subject.least.toFixed(1), ...times];
  });
  return htmlTable(['Question', 'What', 'Replica us', ...names.map((name) => `${name}, times`)], rows);
}

function htmlTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[], tag: string): string =>
    `<tr>${cells.map((cell) => `<${tag}${classOf(cell)}>${escaped(cell)}</${tag}>`).join('')}</tr>`;
  return `<table><thead>${line(head, 'th')}</thead><tbody>${rows.map((row) => line(row, 'td')).join('\n')}</tbody></table>`;
}

function classOf(cell: string): string {
  return ['great', 'pass', 'short'].includes(cell) ? ` class="${cell}"` : '';
}

function percentText(part: number): string {
  return `${(part * 100).toFixed(0)} %`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** The short table for README.md: how many times the replica's CPU each peer needs. */
export function markdownTable({ peers }: Pick<FullReport, 'peers'>): string {
  const names = peerNames(peers);
  const rows = peers.map(({ question, peers: others }) => {
    const times = names.map((name) => timesText(others.find(({ peer }) => peer === name)?.ratio));
    return [question.what, ...times];
  });
  const lines = [['CPU per request, times this replica', ...names], ['---', ...names.map(() => '---:')], ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
