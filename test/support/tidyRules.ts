// The rules of style that a machine can check. Each takes sources and returns one line per violation: place, violation,
// cure. The rules are pure. test/tidy.test.ts chooses the files, and shows that each rule finds violations.
import { posix } from 'node:path';
import { placeOf, type Source } from './sources.ts';

/** Returns one line per violation. */
export type Rule = (sources: readonly Source[]) => readonly string[];

function isTest(path: string): boolean {
  return path.startsWith('test/');
}

/** A rule that reports every match of a pattern in code (comments excluded) for which `complain` returns a text. */
function everyMatch(pattern: RegExp, complain: (match: RegExpExecArray, source: Source) => string | undefined): Rule {
  return (sources) =>
    sources.flatMap((source) =>
      [...source.code.matchAll(pattern)].flatMap((match) => {
        const complaint = complain(match, source);
        return complaint === undefined ? [] : [`${placeOf(source, match.index)} ${complaint}`];
      }),
    );
}

const PARTS = ['bits', 'schema', 'kernel', 'column', 'index', 'snapshot'];
const ENGINE = [...PARTS, 'query', 'find', 'page', 'resolve', 'engine'];
const ROOMS = ['store', 'import', 'synth', 'blocks', 'upstream', 'distribution', 'opening'];
const BELOW_SERVER = ['engine', 'data', 'xml', ...ROOMS, 'workers', 'niceness'];
const SERVICES = ['settings', 'observe', 'http', 'authority', 'catalogue', 'pages'];
const SERVER = [...SERVICES, 'transports', 'process', 'commands'];
const ALL = [...ENGINE, ...BELOW_SERVER, ...SERVER];

/** A layer of the project: its folders (the longest match decides) and the other layers that it may import. */
type Area = readonly [name: string, folders: string, mayImport: readonly string[]];

// Threads and handlers import the engine through engine/engine.ts. Code that builds, measures or tests it imports its
// files.
const AREAS: readonly Area[] = [
  ['bits', 'engine/bits/', []],
  ['schema', 'engine/schema/', []],
  ['kernel', 'engine/kernel/', ['bits']],
  ['column', 'engine/column/', ['bits', 'schema', 'kernel']],
  ['index', 'engine/index/', ['bits', 'schema', 'kernel', 'column']],
  ['snapshot', 'engine/snapshot/', ['bits', 'schema', 'kernel', 'column', 'index']],
  ['query', 'engine/query/', PARTS],
  ['find', 'engine/find/', [...PARTS, 'query']],
  ['page', 'engine/page/', PARTS],
  ['resolve', 'engine/resolve/', [...PARTS, 'query', 'find', 'page']],
  ['engine', 'engine/', ENGINE],
  ['xml', 'data/xml/', []],
  ['data', 'data/', [...ENGINE, 'niceness']],
  ['store', 'data/store/', [...ENGINE, 'data']],
  ['import', 'data/import/', [...ENGINE, 'data', 'store']],
  ['synth', 'data/synth/', [...ENGINE, 'data', 'import']],
  ['blocks', 'data/blocks/', [...ENGINE, 'data', 'store', 'niceness']],
  ['upstream', 'data/upstream/ data/compare/', [...ENGINE, 'data', 'store', 'import']],
  ['distribution', 'data/distribution/', [...ENGINE, 'data', 'xml', 'store', 'blocks']],
  ['opening', 'data/open.ts data/openDirectory.ts data/verifyDeep.ts', [...ENGINE, 'data', ...ROOMS]],
  ['workers', 'workers/', ['engine', 'niceness']],
  ['niceness', 'workers/niceness.ts', []],
  ['settings', 'server/settings/', BELOW_SERVER],
  ['http', 'server/http/', BELOW_SERVER],
  ['observe', 'server/observe/', [...BELOW_SERVER, 'http']],
  ['transports', 'server/http/uws/ server/http/node/', [...BELOW_SERVER, 'http']],
  ['authority', 'server/authority/', [...BELOW_SERVER, 'settings', 'observe', 'http']],
  ['catalogue', 'server/catalogue/', [...BELOW_SERVER, 'settings', 'observe', 'http']],
  ['pages', 'server/pages/', [...BELOW_SERVER, 'settings', 'observe', 'http', 'catalogue']],
  ['process', 'server/process/', [...BELOW_SERVER, ...SERVICES, 'transports']],
  ['commands', 'server/', [...BELOW_SERVER, ...SERVER]],
  ['bench', 'bench/', ALL],
  ['test', 'test/', [...ALL, 'bench']],
];

function areaOf(path: string): Area | undefined {
  const lengthOf = ([, folders]: Area): number =>
    Math.max(0, ...folders.split(' ').map((folder) => (path.startsWith(folder) ? folder.length : 0)));
  return AREAS.filter((area) => lengthOf(area) > 0).toSorted((a, b) => lengthOf(b) - lengthOf(a))[0];
}

const IMPORT = /(?:\bfrom\s*|\bimport\s*\(?\s*)(['"])(?<target>[^'"\n]+)\1/g;

/** A thread or process that is started from a file counts as an import of that file. */
const KNOWN_FILE = new RegExp(`(?:${IMPORT.source})|\\bnew URL\\(\\s*['"](?<started>[^'"\\n]+\\.ts)['"]`, 'g');

/** Imports follow the arrows of ARCHITECTURE.md, which AREAS repeats. */
export const importsFollowTheArrows = everyMatch(KNOWN_FILE, ({ groups }, { path }) => {
  const target = groups?.['target'] ?? groups?.['started'] ?? '';
  if (!target.startsWith('.')) return undefined;
  const [from, to] = [areaOf(path), areaOf(posix.join(posix.dirname(path), target))];
  if (!from || !to || from === to || from[2].includes(to[0])) return undefined;
  return `imports ${target}: ${from[0]} may not know ${to[0]}; move the code to the right side of the arrow`;
});

/** No product file imports itself through others, including types and `import()`. One line per cycle. */
export const importsMakeNoCircle: Rule = (sources) => {
  const product = sources.filter(({ path }) => !/^(?:test|bench)\//.test(path));
  const targets = new Map(product.map(({ path, code }) => [path, importedBy(path, code)]));
  const reached = new Map([...targets.keys()].map((path) => [path, reachedFrom(path, targets)]));
  const circles = new Set(
    [...reached].map(([path, own]) =>
      [...own].filter((other) => own.has(path) && reached.get(other)?.has(path)).join(', '),
    ),
  );
  circles.delete('');
  return [...circles].map((files) => {
    const [first, ...others] = files.split(', ');
    return `${first}:1 imports itself by way of ${others.join(', ') || 'nothing else'}; move what they share into a file of its own`;
  });
};

function importedBy(path: string, code: string): readonly string[] {
  return [...code.matchAll(IMPORT)]
    .map(({ groups }) => groups?.['target'] ?? '')
    .filter((target) => target.startsWith('.'))
    .map((target) => posix.join(posix.dirname(path), target));
}

function reachedFrom(path: string, targets: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const reached = new Set<string>();
  const open = [path];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const target of targets.get(next) ?? []) {
      if (!reached.has(target)) open.push(target);
      reached.add(target);
    }
  }
  return new Set([...reached].sort());
}

/** Facilities that product code may use in one place only. Tests may use all of them. */
const RIM: readonly { pattern: RegExp; what: string; allowed: readonly [file: string, why: string][]; cure: string }[] =
  [
    {
      pattern: /\bprocess\s*\.\s*env\b/,
      what: 'the environment',
      allowed: [
        ['server/settings/declarations.ts', 'settings are read there'],
        ['server/launch.js', 'how memory is handed out is told to glibc by the environment of the program'],
        ['server/process/followProcess.ts', 'the same of the process that refreshes'],
        ['bench/micro/refreshTasks.ts', 'the same of the processes that it measures'],
        ['data/connections.ts', 'proxies are those of every program on the machine'],
        ['server/http/uws/library.ts', 'uWebSockets.js takes its header limit from the environment when it is loaded'],
        [
          'bench/peers/peerInstall.ts',
          "peers are compiled for, and run on, the machine's own Node: the one on the PATH",
        ],
      ],
      cure: 'declare a setting in server/settings/declarations.ts and pass its value on',
    },
    {
      pattern: /\bDate\.now\b|\bperformance\.now\b|\bnew Date\(\)|\bprocess\.hrtime\b/,
      what: 'the clock',
      allowed: [
        ['server/observe/clock.ts', 'the clock of the server'],
        ['server/http/framing.ts', 'the Date of answers that no library writes'],
        ['workers/heavy.ts', 'the time that a task of the pool may take'],
        ['data/leftovers.ts', 'when partial output was last touched'],
        ['data/distribution/s3Keys.ts', 'the time at which keys expire'],
        ['data/lock.ts', 'the time at which a holder touches its lock'],
        ['bench/', 'measuring is what it is for'],
      ],
      cure: 'take a Clock (server/observe/clock.ts) as a parameter',
    },
    {
      pattern: /\bMath\.random\b|\brandom(?:Bytes|UUID|Int)\b/,
      what: 'randomness',
      allowed: [
        ['server/process/threadWatch.ts', 'ids of requests'],
        ['data/leftovers.ts', 'a name of partial output must not be met twice'],
        ['data/upstream/client.ts', 'requests that failed together must not be repeated together'],
        ['data/lock.ts', 'two processes that want one lock may have the same pid, in two containers'],
        ['data/import/batch.ts', 'a data set may have texts that were chosen for their hash'],
        ['server/process/arrival.ts', 'replicas that were started together must not ask together'],
        ['server/authority/issuance.ts', 'serial numbers must not be met twice, nor be guessed'],
      ],
      cure: 'take a seeded source as a parameter',
    },
    {
      pattern: /(?<![.\w])fetch\s*\(|['"]undici['"]/,
      what: 'fetch or undici',
      allowed: [
        ['data/connections.ts', 'every connection to another host, through the proxy that it needs'],
        ['server/pages/openapi/files.ts', 'the script of a page, which a browser runs'],
      ],
      cure: 'go through data/connections.ts',
    },
    {
      pattern: /['"]uWebSockets\.js['"]/,
      what: 'uWebSockets.js',
      allowed: [
        ['server/http/uws/library.ts', 'loads it safely'],
        ['bench/', 'the bare control that ratios are taken to'],
      ],
      cure: 'go through server/http/uws/library.ts',
    },
    { pattern: /\bconsole\s*\./, what: 'the console', allowed: [], cure: 'report through a parameter or an event' },
  ];

/** The environment, clock, randomness, fetch, uWebSockets.js and the console stay in the files of `RIM`. */
export const rimStaysAtTheRim: Rule = (sources) =>
  RIM.flatMap(({ pattern, what, allowed, cure }) => {
    const rule = everyMatch(new RegExp(pattern, 'g'), (_, { path }) => {
      const isExcused =
        isTest(path) || allowed.some(([file]) => path === file || (file.endsWith('/') && path.startsWith(file)));
      return isExcused ? undefined : `uses ${what}; ${cure}`;
    });
    return rule(sources);
  });

/** The engine imports no Node module. The compiler checks this too; the rule adds the line and the reason. */
export const engineIsPure = everyMatch(/['"]node:[a-z_/]+['"]/g, (_, { path }) =>
  path.startsWith('engine/')
    ? 'a node: module in the engine; do the I/O in data/ or server/ and pass bytes in'
    : undefined,
);

const PACKAGE = /^(?:@[\w.-]+\/)?[A-Za-z][\w.-]*(?=\/|$)/;

/** Product code imports only these packages, types included: a development dependency is missing in an installation. */
export const productImportsOnly = (dependencies: readonly string[]): Rule =>
  everyMatch(IMPORT, ({ groups }, { path }) => {
    const [name] = PACKAGE.exec(groups?.['target'] ?? '') ?? [];
    if (name === undefined || isTest(path) || path.startsWith('bench/') || dependencies.includes(name))
      return undefined;
    return `imports ${name}, which is not in dependencies of package.json; move it there`;
  });

const CITED_PATH =
  /(?<![\w./*-])(?:engine|data|workers|server|bench|test|deploy)\/[\w./-]*\.(?:ts|js|json|md|fbs|as|wat|c)\b/g;
const CITED_NAME = /(?<![\w./*<-])[a-zA-Z]\w*(?:\.long|\.test|\.d)*\.ts\b/g;

/** Paths and files that comments cite exist: a path from the root, or a file's name alone. */
export function citationsExist(files: readonly string[]): Rule {
  const known = new Set(files.flatMap((path) => [path, posix.basename(path)]));
  return (sources) =>
    sources.flatMap((source) => {
      const comments = commentsOf(source);
      return [...comments.matchAll(CITED_PATH), ...comments.matchAll(CITED_NAME)]
        .filter(([cited]) => !known.has(cited))
        .map(({ 0: cited, index }) => `${placeOf(source, index)} cites ${cited}, which does not exist; name what does`);
    });
}

/** The comments of a source at their places, with all else blank; a document as a whole. */
function commentsOf({ path, text, code }: Source): string {
  if (path.endsWith('.md')) return text;
  return text
    .split('')
    .map((character, i) => (code[i] === character && character !== '\n' ? ' ' : character))
    .join('');
}
