// R with jsonlite, and read.csv on an export.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runServer, type Server } from '../support/commandProcess.ts';
import { hasLibrary, hasProgram } from '../support/debian.ts';
import { sampleSnapshot } from '../support/sampleSnapshot.ts';

const run = promisify(execFile);
const SCRIPT = `
url <- commandArgs(TRUE)[1]
page <- jsonlite::fromJSON(url)
table <- read.csv(paste0(url, '?format=csv&fields=ob_id,title&bom=1'), fileEncoding = 'UTF-8-BOM')
cat(page$count, nrow(table), names(table))
`;

describe.skipIf(!hasProgram('Rscript') || !hasLibrary('r-cran-jsonlite'))('R', () => {
  let server: Server;
  beforeAll(async () => (server = await runServer(['--data', await sampleSnapshot(), '--threads', '1'])));
  afterAll(() => server.stop());

  test('reads a page, and a CSV with a byte order mark', async () => {
    const { stdout } = await run('Rscript', ['-e', SCRIPT, `${server.url}/api/v3/observations/`]);
    expect(stdout).toBe('500 500 ob_id title');
  });
});
