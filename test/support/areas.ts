// The direction of imports as one table: which part of the project may import which. Drawn in ARCHITECTURE.md.
// Data and a lookup; test/support/tidyRules.ts compares the imports with it.

/** A part of the project: the path prefixes it holds (the longest matching prefix decides) and what it may import. */
export interface Area {
  readonly name: string;
  readonly holds: readonly string[];
  readonly mayImport: readonly string[];
}

const ENGINE = ['bits', 'schema', 'kernel', 'column', 'index', 'snapshot', 'query', 'page', 'engine'];
// Threads and handlers see the engine through its one face; building, measuring and testing it takes its parts.
const BELOW_SERVER = ['engine', 'data', 'workers'];
const SERVER = ['server base', 'authority', 'services', 'transports', 'composition', 'command line'];

// The areas, each below those that may import it. An area may always import itself; oxlint sees to cycles.
const AREAS: readonly Area[] = [
  { name: 'bits', holds: ['engine/bits/'], mayImport: [] },
  { name: 'schema', holds: ['engine/schema/'], mayImport: [] },
  { name: 'kernel', holds: ['engine/kernel/'], mayImport: ['bits'] },
  { name: 'column', holds: ['engine/column/'], mayImport: ['bits', 'schema', 'kernel'] },
  { name: 'index', holds: ['engine/index/'], mayImport: ['bits', 'schema', 'kernel', 'column'] },
  { name: 'snapshot', holds: ['engine/snapshot/'], mayImport: ['bits', 'schema', 'kernel', 'column', 'index'] },
  { name: 'query', holds: ['engine/query/'], mayImport: ['bits', 'schema', 'kernel', 'column', 'index', 'snapshot'] },
  { name: 'page', holds: ['engine/page/'], mayImport: ['bits', 'schema', 'kernel', 'column', 'index', 'snapshot'] },
  { name: 'engine', holds: ['engine/'], mayImport: ENGINE },
  { name: 'data', holds: ['data/'], mayImport: ENGINE },
  { name: 'workers', holds: ['workers/'], mayImport: ['engine'] },
  {
    name: 'server base',
    holds: [
      'server/config.ts',
      'server/setting',
      'server/clock.ts',
      'server/quantities.ts',
      'server/baseUrl.ts',
      'server/observe/',
      'server/http/exchange.ts',
    ],
    mayImport: BELOW_SERVER,
  },
  { name: 'authority', holds: ['server/authority/'], mayImport: [...BELOW_SERVER, 'server base'] },
  {
    name: 'services',
    holds: ['server/soap/', 'server/catalogue', 'server/browse', 'server/openapi', 'server/http/'],
    mayImport: [...BELOW_SERVER, 'server base', 'authority'],
  },
  {
    name: 'transports',
    holds: ['server/http/uws', 'server/http/node'],
    mayImport: [...BELOW_SERVER, 'server base', 'authority', 'services'],
  },
  {
    name: 'composition',
    holds: ['server/'],
    mayImport: [...BELOW_SERVER, 'server base', 'authority', 'services', 'transports'],
  },
  {
    name: 'command line',
    holds: [
      'server/cli.ts',
      'server/launch.js',
      'server/command',
      'server/authorityCommand',
      'server/reports.ts',
      'server/terminal.ts',
    ],
    mayImport: [...BELOW_SERVER, ...SERVER],
  },
  { name: 'bench', holds: ['bench/'], mayImport: [...ENGINE, ...BELOW_SERVER, ...SERVER] },
  { name: 'test', holds: ['test/'], mayImport: [...ENGINE, ...BELOW_SERVER, ...SERVER, 'bench'] },
];

/** The area of a path relative to the root, or undefined for a file outside all areas. */
export function areaOf(path: string): Area | undefined {
  let best: Area | undefined;
  let bestLength = 0;
  for (const area of AREAS) {
    for (const prefix of area.holds) {
      if (path.startsWith(prefix) && prefix.length > bestLength) [best, bestLength] = [area, prefix.length];
    }
  }
  return best;
}
