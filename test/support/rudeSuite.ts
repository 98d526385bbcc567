// The suite of a crawl from a server that misbehaves: whatever it does, the output is the old data set or the whole new
// one, an error names what failed, and the tries are bounded.
import { describe, expect, test } from 'vitest';
import { OperationError } from '../../data/operationError.ts';
import { crawled, filesOf, oldDataSet, recordsOf } from './crawls.ts';
import { temporaryDirectory } from './dataSets.ts';
import { NOTES, notesLines, type Place, startRudeUpstream } from './rudeUpstream.ts';
import type { RudeWay } from './rudeWays.ts';

/** More than any way may cost: four looks at four pages with three tries each, and two collections. */
const ASKED_MAX = 80;

/** Short, since some ways never answer; nothing that answers takes as long. */
const TIMEOUT_MS = { whole: 5000, never: 1000 };

/** Runs every way at the places that are wanted of it, once and always. */
export function rudeSuite(ways: readonly RudeWay[], placesOf: (way: RudeWay, i: number) => readonly Place[]): void {
  const directory = temporaryDirectory();

  async function outcomeOf(way: RudeWay, place: Place, times: number) {
    const upstream = await startRudeUpstream(way.misbehave, place, times);
    const output = oldDataSet(directory, upstream.url);
    const old = filesOf(output);
    const timeoutMs = /never|stops/.test(way.name) ? TIMEOUT_MS.never : TIMEOUT_MS.whole;
    try {
      const error = await crawled(upstream.url, output, { timeoutMs }).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(upstream.askedElsewhere()).toBe(0);
      expect(upstream.asked()).toBeLessThan(ASKED_MAX);
      return { error, url: upstream.url, old, files: filesOf(output), records: recordsOf(output) };
    } finally {
      await upstream.close();
    }
  }

  const cases = ways.flatMap((way, i) => placesOf(way, i).map((place) => [way.name, place, way] as const));

  describe('a server that once', () => {
    test.each(cases)('%s, at the %s page', async (_name, place, way) => {
      const { error, records, files, old } = await outcomeOf(way, place, 1);
      if (way.outcome === 'atOnce') {
        expect([error, files]).toEqual([expect.any(OperationError), old]);
        return;
      }
      expect(error).toBeUndefined();
      expect(records?.['notes.ndjson']).toBe(notesLines());
      expect(JSON.parse(files!['MANIFEST.json']!)).toMatchObject({ counts: { notes: NOTES, times: 5 } });
    });
  });

  describe('a server that always', () => {
    test.each(cases)('%s, at the %s page', async (_name, place, way) => {
      const { error, url, files, old, records } = await outcomeOf(way, place, Infinity);
      if (error === undefined) {
        expect([way.outcome, records?.['notes.ndjson']]).toEqual(['harmless', notesLines()]);
        return;
      }
      expect(way.outcome).not.toBe('harmless');
      expect(files).toEqual(old);
      const named = new RegExp(`^notes, page at offset \\d+ \\(${url}/api/v3/notes/\\?limit=\\d+&offset=\\d+.*\\): .`);
      expect(error).toMatchObject({ code: 'network', message: expect.stringMatching(named) });
    });
  });
}
