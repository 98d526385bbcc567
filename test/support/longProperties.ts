/**
 * Characters of one value. A page of a hundred exceeds the socket buffers of a loopback connection, and scans take
 * long.
 */
const VALUE_LENGTH = 100_000;

/**
 * `migrationproperties.ndjson` with this many records of about 100 kB, ids from 1. Every value is different and ends
 * with `needle` and its id. Repeated calls return the same text.
 */
export function longProperties(count: number): string {
  const filler = 'Sea surface temperature, observed from a moving platform; '.repeat(VALUE_LENGTH / 50);
  const lines = Array.from({ length: count }, (_, i) => {
    const value = `${i + 1} ${filler.slice(i % 50, VALUE_LENGTH)} needle${i + 1}`;
    const record = { id: i + 1, key: 'observation.content.all', value, modified: '2020-02-29', ob_ref: i + 1 };
    return `${JSON.stringify(record)}\n`;
  });
  return lines.join('');
}
