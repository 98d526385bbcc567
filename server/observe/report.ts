// What the server says of itself while it runs: lines for people, or lines of JSON for machines. Decides nothing and
// drops nothing; access log and audit have files of their own. No library: pino takes 45 ms and 29 modules of each
// start for what JSON.stringify does here in none.
import { epochMs } from './clock.ts';

/** How grave something is: as it should be, a promise that is not kept, a fault that somebody has to look at. */
export type Level = 'info' | 'warn' | 'error';

/** Takes what is to be said, in one line or several. `info` where no level is told. */
export type Report = (text: string, level?: Level) => void;

/** A report to an output: as it is, or as a line of JSON with `time` (ISO 8601, UTC), `level` and `message`. */
export function reportTo(output: { write(text: string): unknown }, isJson: boolean): Report {
  if (!isJson) return (text) => void output.write(`${text}\n`);
  return (message, level = 'info') => {
    const time = new Date(epochMs()).toISOString();
    output.write(`${JSON.stringify({ time, level, message })}\n`);
  };
}
