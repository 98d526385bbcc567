import type { ServedForm } from '../../engine/column/served.ts';
import type { Records } from '../../engine/column/records.ts';
import type { Selection } from '../../engine/index/rowset.ts';
import type { Body } from '../../engine/page/envelope.ts';
import { jsonRows, measured } from '../../engine/page/rows.ts';

/** The whole records of a selection in a form, measured at once. */
export function rowsBody(records: Records, rows: Selection, form: ServedForm): Body {
  return measured(jsonRows({ records, rows, form, keys: undefined }));
}
