// The observations read from their NDJSON file without any code of the product. Responses are compared with them. Plain
// arrays and loops; lines stay on disk.
import { createReadStream, openSync, readSync } from 'node:fs';
import path from 'node:path';

/** One observation: the fields by which scenarios choose, links by id, and the place of its line in the file. */
export interface NaiveRow {
  readonly id: number;
  readonly uuid: string;
  readonly title: string;
  readonly status: string;
  readonly publicationState: string;
  readonly published: string | null;
  readonly projects: readonly number[];
  readonly phenomena: readonly number[];
  readonly box: number | undefined;
  readonly period: number | undefined;
  readonly start: number;
  readonly end: number;
}

/**
 * All observations by ascending id, and the lines of the records that they link to, by id. `line` returns an
 * observation as served under a base URL and version. Cost of `line`: a read.
 */
export interface NaiveCatalogue {
  readonly rows: readonly NaiveRow[];
  readonly projects: readonly { readonly id: number; readonly uuid: string }[];
  readonly linked: Readonly<Record<LinkedCollection, ReadonlyMap<number, string>>>;
  line(row: NaiveRow, baseUrl: string, version: string): string;
}

const LINKED = ['bboxes', 'phenomona', 'projects', 'times'] as const;

export type LinkedCollection = (typeof LINKED)[number];

const LINE_FEED = 0x0a;

/** Reads the observations of a data set directory. Cost: a parse of every line, 4 s for 100,000. */
export async function readNaively(directory: string): Promise<NaiveCatalogue> {
  const file = path.join(directory, 'observations.ndjson');
  const rows: NaiveRow[] = [];
  for await (const { text, start, end } of linesOf(file)) {
    rows.push({ ...rowOf(JSON.parse(text) as NaiveRecord), start, end });
  }
  const linked = Object.fromEntries(
    await Promise.all(LINKED.map(async (name) => [name, await readLinked(path.join(directory, `${name}.ndjson`))])),
  ) as NaiveCatalogue['linked'];
  const descriptor = openSync(file, 'r');
  return {
    projects: [...linked.projects].map(([id, text]) => ({ id, uuid: (JSON.parse(text) as NaiveRecord).uuid })),
    linked,
    rows: rows.sort((a, b) => a.id - b.id),
    line: ({ start, end }, baseUrl, version) => {
      const bytes = Buffer.alloc(end - start);
      readSync(descriptor, bytes, 0, bytes.length, start);
      return bytes.toString().replaceAll('"{base_url}/api/v3/', `"${baseUrl}/api/${version}/`);
    },
  };
}

interface NaiveRecord {
  readonly ob_id: number;
  readonly uuid: string;
  readonly title: string;
  readonly status: string;
  readonly publicationState: string;
  readonly dataPublishedTime: string | null;
  readonly projects: readonly string[];
  readonly phenomena: readonly string[];
  readonly geographicExtent: string | null;
  readonly timePeriod: string | null;
}

async function readLinked(file: string): Promise<ReadonlyMap<number, string>> {
  const lines = new Map<number, string>();
  for await (const { text } of linesOf(file)) lines.set((JSON.parse(text) as NaiveRecord).ob_id, text);
  return lines;
}

function rowOf(record: NaiveRecord): Omit<NaiveRow, 'start' | 'end'> {
  const { ob_id: id, uuid, title, status, publicationState, dataPublishedTime: published } = record;
  const [projects, phenomena] = [record.projects.map(idIn), record.phenomena.map(idIn)];
  const [box, period] = [record.geographicExtent, record.timePeriod].map((url) =>
    url === null ? undefined : idIn(url),
  );
  return { id, uuid, title, status, publicationState, published, projects, phenomena, box, period };
}

function idIn(url: string): number {
  return Number(/\/(\d+)\/[^/]*$/.exec(url)?.[1]);
}

interface Line {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

async function* linesOf(file: string): AsyncGenerator<Line> {
  let rest = Buffer.alloc(0);
  let start = 0;
  for await (const chunk of createReadStream(file, { highWaterMark: 1 << 22 }) as AsyncIterable<Buffer>) {
    const bytes = Buffer.concat([rest, chunk]);
    let from = 0;
    for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, from)) {
      yield { text: bytes.toString('utf8', from, at), start: start + from, end: start + at };
      from = at + 1;
    }
    rest = bytes.subarray(from);
    start += from;
  }
}
