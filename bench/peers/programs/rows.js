// The observations of a data set as their lines say, with the real base URL, for the peers: read with plain loops.
// Plain JavaScript, since peers run on whatever Node the machine has.
import { createReadStream } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';

/** Yields each observation of a directory as the JSON text it is served as. Cost: a read of the file. */
export async function* observationTexts(directory, baseUrl) {
  const input = createReadStream(path.join(directory, 'observations.ndjson'), { highWaterMark: 1 << 22 });
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    yield line.replaceAll('"{base_url}/api/', `"${baseUrl}/api/`);
  }
}
