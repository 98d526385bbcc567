// The direction of imports as one table: which part of the project may import which. Drawn in ARCHITECTURE.md.
// Data and a lookup; test/support/tidyRules.ts compares the imports with it.

/** A part of the project: its folders (the innermost decides) and what it may import. */
export interface Area {
  readonly name: string;
  readonly folders: readonly string[];
  readonly mayImport: readonly string[];
}

const ENGINE = [
  'bits',
  'schema',
  'kernel',
  'column',
  'index',
  'snapshot',
  'query',
  'find',
  'page',
  'resolve',
  'engine',
];
// Threads and handlers see the engine through its one face; building, measuring and testing it takes its parts.
const ROOMS = ['store', 'import', 'synth', 'blocks', 'upstream', 'distribution', 'opening'];
const BELOW_SERVER = ['engine', 'data', 'xml', ...ROOMS, 'workers', 'niceness'];
const SERVICES = ['settings', 'observe', 'http', 'authority', 'catalogue', 'pages'];
const SERVER = [...SERVICES, 'transports', 'process', 'commands'];

// The areas, each below those that may import it. An area may always import itself; oxlint sees to cycles.
const AREAS: readonly Area[] = [
  { name: 'bits', folders: ['engine/bits/'], mayImport: [] },
  { name: 'schema', folders: ['engine/schema/'], mayImport: [] },
  { name: 'kernel', folders: ['engine/kernel/'], mayImport: ['bits'] },
  { name: 'column', folders: ['engine/column/'], mayImport: ['bits', 'schema', 'kernel'] },
  { name: 'index', folders: ['engine/index/'], mayImport: ['bits', 'schema', 'kernel', 'column'] },
  { name: 'snapshot', folders: ['engine/snapshot/'], mayImport: ['bits', 'schema', 'kernel', 'column', 'index'] },
  { name: 'query', folders: ['engine/query/'], mayImport: ['bits', 'schema', 'kernel', 'column', 'index', 'snapshot'] },
  {
    name: 'find',
    folders: ['engine/find/'],
    mayImport: ['bits', 'schema', 'kernel', 'column', 'index', 'snapshot', 'query'],
  },
  { name: 'page', folders: ['engine/page/'], mayImport: ['bits', 'schema', 'kernel', 'column', 'index', 'snapshot'] },
  {
    name: 'resolve',
    folders: ['engine/resolve/'],
    mayImport: ['bits', 'schema', 'kernel', 'column', 'index', 'snapshot', 'query', 'find', 'page'],
  },
  { name: 'engine', folders: ['engine/'], mayImport: ENGINE },
  { name: 'xml', folders: ['data/xml/'], mayImport: [] },
  // What the rooms of data/ share.
  { name: 'data', folders: ['data/'], mayImport: [...ENGINE, 'niceness'] },
  { name: 'store', folders: ['data/store/'], mayImport: [...ENGINE, 'data'] },
  { name: 'import', folders: ['data/import/'], mayImport: [...ENGINE, 'data', 'store'] },
  { name: 'synth', folders: ['data/synth/'], mayImport: [...ENGINE, 'data', 'import'] },
  { name: 'blocks', folders: ['data/blocks/'], mayImport: [...ENGINE, 'data', 'store', 'niceness'] },
  { name: 'upstream', folders: ['data/upstream/'], mayImport: [...ENGINE, 'data', 'store', 'import'] },
  { name: 'distribution', folders: ['data/distribution/'], mayImport: [...ENGINE, 'data', 'xml', 'store', 'blocks'] },
  {
    name: 'opening',
    folders: ['data/open.ts', 'data/openDirectory.ts', 'data/verifyDeep.ts'],
    mayImport: [...ENGINE, 'data', ...ROOMS],
  },
  { name: 'workers', folders: ['workers/'], mayImport: ['engine', 'niceness'] },
  { name: 'niceness', folders: ['workers/niceness.ts'], mayImport: [] },
  { name: 'settings', folders: ['server/settings/'], mayImport: BELOW_SERVER },
  { name: 'http', folders: ['server/http/'], mayImport: BELOW_SERVER },
  { name: 'observe', folders: ['server/observe/'], mayImport: [...BELOW_SERVER, 'http'] },
  { name: 'transports', folders: ['server/http/uws/', 'server/http/node/'], mayImport: [...BELOW_SERVER, 'http'] },
  { name: 'authority', folders: ['server/authority/'], mayImport: [...BELOW_SERVER, 'settings', 'observe', 'http'] },
  { name: 'catalogue', folders: ['server/catalogue/'], mayImport: [...BELOW_SERVER, 'settings', 'observe', 'http'] },
  {
    name: 'pages',
    folders: ['server/pages/'],
    mayImport: [...BELOW_SERVER, 'settings', 'observe', 'http', 'catalogue'],
  },
  { name: 'process', folders: ['server/process/'], mayImport: [...BELOW_SERVER, ...SERVICES, 'transports'] },
  { name: 'commands', folders: ['server/commands/', 'server/'], mayImport: [...BELOW_SERVER, ...SERVER] },
  { name: 'bench', folders: ['bench/'], mayImport: [...ENGINE, ...BELOW_SERVER, ...SERVER] },
  { name: 'test', folders: ['test/'], mayImport: [...ENGINE, ...BELOW_SERVER, ...SERVER, 'bench'] },
];

/** The area of a path relative to the root, or undefined for a file outside all areas. */
export function areaOf(path: string): Area | undefined {
  let best: Area | undefined;
  let bestLength = 0;
  for (const area of AREAS) {
    for (const folder of area.folders) {
      if (path.startsWith(folder) && folder.length > bestLength) [best, bestLength] = [area, folder.length];
    }
  }
  return best;
}
