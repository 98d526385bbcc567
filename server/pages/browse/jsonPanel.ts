// The JSON of a record as the API serves it, indented, to fold and to
// copy. Only where it is short enough to read.
import {
  type CollectionIndex,
  indentedAtOnce,
  measuringOf,
  recordRepresentation,
  type ServedForm,
} from '../../../engine/engine.ts';
import { recordBytes } from '../../../engine/described.ts';
import { bytesText } from '../../observe/quantities.ts';
import { type Child, html, type Markup } from './template.ts';

/** Longer records are fetched, not read. */
const JSON_BYTES_MAX = 128 * 1024;
/** Lines that may be folded: a list of numbers has as many lines as members. */
const LINES_MAX = 4000;

/** The panel. Cost: the bytes of the record, where it is short. */
export function jsonPanel(collection: CollectionIndex, row: number, form: ServedForm): Markup {
  const bytes = recordBytes(collection, row);
  if (bytes > JSON_BYTES_MAX) {
    return html`<details class="json">
      <summary>JSON</summary>
      <p>${bytesText(bytes)}: too long to show here.</p>
    </details>`;
  }
  const rows = { records: collection.records, rows: { kind: 'range', start: row, end: row + 1 }, form } as const;
  const measure = measuringOf(recordRepresentation({ ...rows, keys: undefined }, false));
  let body = measure();
  while (!body) body = measure();
  const indented = indentedAtOnce(body);
  const pieces: Buffer[] = [];
  for (let at = 0; at < indented.bytes; at += pieces.at(-1)!.length) pieces.push(Buffer.from(indented.pieceAt(at)));
  const text = Buffer.concat(pieces).toString();
  const lines = text.split(/(?<=\n)/);
  const shown = lines.length > LINES_MAX ? text : folded(lines);
  return html`<details class="json">
    <summary>JSON</summary>
    <pre data-copy="JSON" tabindex="0"><code>${shown}</code></pre>
  </details>`;
}

/** The lines, each with its end, with a fold for each object and list below the first. */
function folded(lines: readonly string[]): Child {
  let at = 0;
  const block = (depth: number): readonly Child[] => {
    const parts: Child[] = [];
    while (at < lines.length) {
      const line = lines[at]!;
      if (/^ *[\]}]/.test(line)) return parts;
      at++;
      if (!/[[{]\n$/.test(line)) {
        parts.push(line);
        continue;
      }
      const inner = block(depth + 1);
      const end = lines[at++] ?? '';
      parts.push(depth === 0 ? [line, inner, end] : fold(line, [inner, end]));
    }
    return parts;
  };
  return block(0);
}

/**
 * What folds, as text of the block around it: no blank may stand in the template. The line end at the end of a summary
 * or fold is seen as none, since both are blocks, and copied.
 */
function fold(line: string, rest: Child): Markup {
  const head = html`<span>${line.slice(0, -1)}</span>`;
  // prettier-ignore
  return html`<details open><summary>${head}${'\n'}</summary>${rest}</details>`;
}
