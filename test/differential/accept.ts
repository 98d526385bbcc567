interface Range {
  readonly type: string;
  readonly quality: number;
}

/** The forms that Accept can request, the default first. */
const TYPES: Readonly<Record<string, string>> = {
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  csv: 'text/csv',
};

/**
 * The form that an Accept header requests: JSON without a header or for an empty one, else the form of the highest
 * quality. Ties go to the form named more specifically, then to the one named first, then to JSON. undefined if the
 * header accepts no form. The most specific range that matches a form decides (RFC 9110, 12.5.1). Parameters other than
 * `q` are ignored. Exports must be named in full, and count only if `exports` are available.
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
