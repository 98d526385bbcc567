// Human-readable counts and sizes. Independent of the locale: reports are the same on every machine, and reading the
// locale takes 12 ms of the start.

/** A non-negative integer with separators: `1,234,567`. */
export function countText(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** The number of compressed records, if others were carried over: `, 12 of 1,234 newly`. */
export function deflatedText({ records, deflated }: { readonly records: number; readonly deflated: number }): string {
  return deflated === records ? '' : `, ${countText(deflated)} of ${countText(records)} newly`;
}

export const MEGABYTE = 1_000_000;

const BYTE_UNITS = ['kB', 'MB', 'GB', 'TB'] as const;

/** A size in decimal units: `999 B`, `1.0 kB`, `433.0 MB`. */
export function bytesText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  let value = bytes / 1000;
  let unit = 0;
  // 999.95 would round to 1000.0 in the same unit.
  while (value >= 999.95 && unit < BYTE_UNITS.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${value.toFixed(1)} ${BYTE_UNITS[unit]}`;
}
