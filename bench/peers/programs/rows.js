// The records of a data set as their lines say, observations with the real base URL, for the peers: in plain loops.
// Plain JavaScript, since peers run on whatever Node the machine has.
import { createReadStream, readdirSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';

/** The collections of a data set: name and file of each. */
export function collectionsIn(directory) {
  const names = readdirSync(directory).filter((name) => name.endsWith('.ndjson'));
  return names.map((name) => ({ table: path.basename(name, '.ndjson'), file: path.join(directory, name) }));
}

/** The lines of a file. Cost: a read of it. */
export function linesOf(file) {
  return createInterface({ input: createReadStream(file, { highWaterMark: 1 << 22 }), crlfDelay: Infinity });
}

/** Yields each observation of a directory as the JSON text it is served as. Cost: a read of the file. */
export async function* observationTexts(directory, baseUrl) {
  for await (const line of linesOf(path.join(directory, 'observations.ndjson'))) {
    yield line.replaceAll('"{base_url}/api/', `"${baseUrl}/api/`);
  }
}
