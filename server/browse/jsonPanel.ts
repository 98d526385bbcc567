// The JSON of a record as the API serves it, indented, to fold and to
// copy. Only where it is short enough to read.
import {
  type CollectionIndex,
  indentedAtOnce,
  measuringOf,
  recordRepresentation,
  type ServedForm,
} from '../../engine/engine.ts';
import { recordBytes } from '../../engine/described.ts';
import { bytesText } from '../observe/quantities.ts';
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
  const lines = Buffer.concat(pieces).toString().split('\n');
  const shown = lines.length > LINES_MAX ? html`${lines.join('\n')}` : folded(lines);
  return html`<details class="json">
    <summary>JSON</summary>
    <pre data-copy="JSON" tabindex="0"><code>${shown}</code></pre>
  </details>`;
}

/** The lines with a fold for each object and list below the first. */
function folded(lines: readonly string[]): Markup {
  let at = 0;
  const block = (depth: number): readonly Child[] => {
    const parts: Child[] = [];
    while (at < lines.length) {
      const line = lines[at]!;
      if (/^ *[\]}]/.test(line)) return parts;
      at++;
      if (!/[[{]$/.test(line)) {
        parts.push(line, LINE_END);
        continue;
      }
      const inner = block(depth + 1);
      const end = lines[at++] ?? '';
      // Blanks count in here: what folds has no line end of its own, since it is a block.
      if (depth === 0) parts.push(line, LINE_END, inner, end);
      else
        parts.push(
          html`<details open>
            <summary>${line}</summary>
            ${inner}${end}${LINE_END}
          </details>`,
        );
    }
    return parts;
  };
  return html`${block(0)}`;
}

const LINE_END = '\n';
