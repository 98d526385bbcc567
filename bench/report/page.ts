// The report of a load benchmark as an HTML page: verdict, a plot of each ratio as a fraction of its budget, the table.
// It is written again after each scenario, so that a run of half an hour can be watched, and what it has measured stays
// if it is interrupted.
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { html, type Markup, utf8Of } from '../../server/pages/browse/template.ts';
import { BUDGETS, type BudgetPlace, guardedOf, guardLines } from '../budgets.ts';
import { measuredRatio, type ScenarioReport } from '../load/load.ts';
import { loadTable } from './report.ts';

export interface RunState {
  readonly place: BudgetPlace | undefined;
  /** Scenarios of the run that are not measured yet. */
  readonly missing: number;
}

/** Replaces the page in one step, so that a reader never sees half of one. */
export function writePage(file: string, reports: readonly ScenarioReport[], state: RunState): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.partial`, pageOf(reports, state));
  renameSync(`${file}.partial`, file);
}

function pageOf(reports: readonly ScenarioReport[], { place, missing }: RunState): Buffer {
  const { lines, isGood } = guardLines(reports.map(measuredRatio), place);
  const verdict =
    missing > 0 ? `Running: ${missing} scenarios are missing` : isGood ? 'Passed' : 'Not passed: see the lines below';
  const [head = [], ...rows] = loadTable(reports, place);
  return utf8Of(
    html`<!doctype html>
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="color-scheme" content="light dark" />
          <title>${verdict}: benchmark</title>
          <style>
            body {
              font: 14px/1.5 system-ui;
            }
            td,
            th {
              padding: 2px 8px;
              text-align: start;
            }
          </style>
        </head>
        <body>
          <h1>${verdict}</h1>
          <ul>
            ${lines.map((line) => html`<li>${line}</li>`)}
          </ul>
          <h2>CPU of each scenario as a fraction of its budget</h2>
          ${plot(reports, place)}
          <h2>Figures</h2>
          <table>
            <tr>
              ${head.map((cell) => html`<th>${cell}</th>`)}
            </tr>
            ${rows.map(
              (row) =>
                html`<tr>
                  ${row.map((cell) => html`<td>${cell}</td>`)}
                </tr>`,
            )}
          </table>
        </body>
      </html> `,
  );
}

/** Pixels. A bar that reaches BUDGET_X has used its budget; longer bars are cut. */
const [LABEL, BUDGET_X, WIDTH, ROW] = [220, 520, 760, 20];
const COLOURS = { held: '#2e7d32', lost: '#c62828', 'too noisy': '#f9a825', unbudgeted: '#607d8b', '-': '#607d8b' };

function plot(reports: readonly ScenarioReport[], place: BudgetPlace | undefined): Markup {
  const height = reports.length * ROW;
  const bars = reports.map((report, i) => {
    const { name } = report.scenario;
    const most = BUDGETS.ratios[name]?.most;
    const part = most === undefined ? 1 : report.ratio / most;
    const bar = Math.min(WIDTH - LABEL, (BUDGET_X - LABEL) * part);
    const colour = COLOURS[guardedOf(measuredRatio(report), place)];
    const text = `${name} ${report.ratio.toFixed(2)}${most === undefined ? '' : ` of ${most.toFixed(2)}`}`;
    return html`<text x="0" y="${i * ROW + 14}" fill="currentColor">${text}</text>
      <rect x="${LABEL}" y="${i * ROW + 3}" width="${bar.toFixed(1)}" height="${ROW - 6}" fill="${colour}" />`;
  });
  return html`<svg role="img" aria-label="Bars" width="${WIDTH}" height="${height}" font-size="12">
    ${bars}
    <line x1="${BUDGET_X}" x2="${BUDGET_X}" y1="0" y2="${height}" stroke="currentColor" />
  </svg>`;
}
