// The oracle's reading of Accept: is JSON welcome? Called by the oracle.

interface Range {
  readonly type: string;
  readonly quality: number;
}

/**
 * Whether an Accept header welcomes `application/json`: none, an empty one, or a matching range whose quality is above
 * 0; the most specific matching range decides (RFC 9110, 12.5.1). Parameters other than `q` are not looked at.
 */
export function accepts(header: string | undefined): boolean {
  if (header === undefined || header.trim() === '') return true;
  const ranges = header.split(',').map(rangeOf);
  for (const type of ['application/json', 'application/*', '*/*']) {
    const fitting = ranges.filter((range) => range.type === type);
    if (fitting.length > 0) return fitting.some(({ quality }) => quality > 0);
  }
  return false;
}

function rangeOf(text: string): Range {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith('q='));
  return { type, quality: quality === undefined ? 1 : Number(quality.slice('q='.length)) };
}
