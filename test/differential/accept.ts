// The oracle's reading of Accept: which form of an answer is wanted most?

interface Range {
  readonly type: string;
  readonly quality: number;
}

/** The forms that Accept can ask for, the usual one first. */
const TYPES: Readonly<Record<string, string>> = {
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  csv: 'text/csv',
};

/**
 * What an Accept header asks for: JSON without one and for an empty one, else the form of the highest quality, of
 * equals the one that is named more closely, then the one named first, then JSON; undefined where none is welcome. The
 * most specific range that matches a form decides (RFC 9110, 12.5.1). Parameters other than `q` are not looked at.
 * Exports are asked for by their full name, and only where `exports` are to be had.
 */
export function formAccepted(header: string | undefined, exports: boolean): string | undefined {
  if (header === undefined || header.trim() === '') return 'json';
  const ranges = header.split(',').map(rangeOf);
  const wishes = Object.entries(TYPES).flatMap(([form, type]) => {
    if (form !== 'json' && !(exports && ranges.some((range) => range.type === type))) return [];
    for (const [distance, name] of [type, type.replace(/[^/]*$/, '*'), '*/*'].entries()) {
      const place = ranges.findIndex((range) => range.type === name);
      if (place >= 0) return [{ form, distance, place, quality: ranges[place]!.quality }];
    }
    return [];
  });
  const welcome = wishes.filter(({ quality }) => quality > 0);
  welcome.sort((a, b) => b.quality - a.quality || a.distance - b.distance || a.place - b.place);
  return welcome[0]?.form;
}

function rangeOf(text: string): Range {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith('q='));
  return { type, quality: quality === undefined ? 1 : Number(quality.slice('q='.length)) };
}
