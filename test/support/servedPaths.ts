import { join } from 'node:path';
import { runServer } from './commandProcess.ts';
import { dataSetOf, imported, ndjsonOf } from './dataSets.ts';

/**
 * Serves this many observations with nothing but a path, and a few records for look-ups, with one thread. The data is
 * imported below a directory.
 */
export async function servePaths(directory: string, observations: number): ReturnType<typeof runServer> {
  const data = dataSetOf(directory, {
    'observations.ndjson': lines(observations, (i) => ({
      ob_id: i + 1,
      title: `A title that is about as long as one of a catalogue, number ${i}`,
      publicationState: 'citable',
      status: 'completed',
      result_field: { dataPath: `/archive/p${i % 9}/${String(i).padStart(5, '0')}` },
    })),
    'drsdatasets.ndjson': lines(2000, (i) => ({
      ob_id: i + 1,
      drsId: `d.${i}`,
      version: 20_200_000 + i,
      isLatest: true,
      observation: `{base_url}/api/v3/observations/${i + 1}/?format=api`,
    })),
    'identifiers.ndjson': lines(10, (i) => ({
      ob_id: i + 1,
      url: `https://o.example.org/${i}`,
      identifierType: 'legacy2_url',
      relatedTo: { ob_id: i + 1, uuid: '', short_code: 'ob' },
    })),
  });
  const { file } = await imported(data, { file: join(directory, 'paths.snapshot') });
  const flags = ['--data', file, '--threads', '1', '--admin-port', '0', '--base-url', 'http://catalogue.test'];
  return runServer(flags);
}

function lines(count: number, line: (i: number) => object): string {
  return ndjsonOf(...Array.from({ length: count }, (_, i) => line(i)));
}
