// The rules of style that a machine can judge. Each takes sources and answers one line per violation: place, what is
// wrong, the cure. Pure: which files there are is decided by test/tidy.test.ts, which also shows that each rule bites.
import { posix } from 'node:path';
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import { GROUPS, sectionName } from '../../engine/snapshot/sections.ts';
import { areaOf } from './areas.ts';
import { placeOf, type Source } from './sources.ts';

/** A rule: one line per violation, none when all is well. */
export type Rule = (sources: readonly Source[]) => readonly string[];

function isTest(path: string): boolean {
  return path.startsWith('test/');
}

/** A rule that reports every match of a pattern in code (comments apart) that `isAllowed` does not excuse. */
function everyMatch(pattern: RegExp, complain: (match: RegExpExecArray, source: Source) => string | undefined): Rule {
  return (sources) =>
    sources.flatMap((source) =>
      [...source.code.matchAll(pattern)].flatMap((match) => {
        const complaint = complain(match, source);
        return complaint === undefined ? [] : [`${placeOf(source, match.index)} ${complaint}`];
      }),
    );
}

const IMPORT = /(?:\bfrom\s*|\bimport\s*\(?\s*)(['"])(?<target>[^'"\n]+)\1/g;

/** A thread or a process that is started by its file is known as well as one that is imported. */
const KNOWN_FILE = new RegExp(`(?:${IMPORT.source})|\\bnew URL\\(\\s*['"](?<started>[^'"\\n]+\\.ts)['"]`, 'g');

/** Imports follow the arrows of ARCHITECTURE.md, as the table in test/support/areas.ts has them. */
export const importsFollowTheArrows = everyMatch(KNOWN_FILE, ({ groups }, { path }) => {
  const target = groups?.['target'] ?? groups?.['started'] ?? '';
  if (!target.startsWith('.')) return undefined;
  const [from, to] = [areaOf(path), areaOf(posix.join(posix.dirname(path), target))];
  if (!from || !to || from === to || from.mayImport.includes(to.name)) return undefined;
  return `imports ${target}: ${from.name} may not know ${to.name}; move the code to the right side of the arrow`;
});

/** No product file imports itself by way of others, types and `import()` counted: one line for a circle. */
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

/** What may be used in one place only. A test may use all of it. */
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
        ['data/upstream/client.ts', 'the only client of the upstream catalogue'],
        ['server/pages/openapi/files.ts', 'the script of a page, which a browser runs'],
        ['data/distribution/httpExchange.ts', 'the only client of hosts of snapshots'],
      ],
      cure: 'go through data/upstream/client.ts',
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

/** The engine imports no module of Node. The compiler sees to it too; this names the line and the reason. */
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

const ONE_WORD = /^export (?:interface|type|class|const) (?<name>[A-Za-z][a-z]*|[A-Z]+)\b/gm;
const PARTICIPLE = /^(?:[a-z]+ed|done|found|given|held|kept|known|made|said|sent|shown|taken|told)$/i;

/** What product code exports, but for functions, is called by a noun: a participle alone leaves open what is kept. */
export const exportsAreNouns = everyMatch(ONE_WORD, ({ groups }, { path }) =>
  !isTest(path) && PARTICIPLE.test(groups?.['name'] ?? '')
    ? `exports ${groups?.['name']}; add the noun that it stands for`
    : undefined,
);

/** No default export, outside configuration files of tools that want one. */
export const exportsAreNamed = everyMatch(/^export default\b/gm, (_, { path }) =>
  path.endsWith('.config.ts') ? undefined : 'a default export; give it a name and export that',
);

/** Collection names that may stand outside the declaration, each with its reason. */
const NAMES_ALLOWED: readonly [file: string, name: string, why: string][] = [
  ['server/commands/explain.ts', 'observations', 'an example in a help text'],
  ['engine/page/envelope.ts', 'results', 'the key of the envelope that holds the records (spec 2.2)'],
  ['data/upstream/page.ts', 'results', 'the same key, where envelopes are read'],
  ['server/pages/openapi/schemas.ts', 'results', 'the same key, where envelopes are described'],
];

/** No collection is named outside the declaration and the generator, in product code. */
export const collectionsAreNamedOnce: Rule = (sources) => {
  const names = COLLECTIONS.map(({ name }) => name).join('|');
  const product = sources.filter(({ path }) => !/^(test|bench|engine\/schema|data\/synth)\//.test(path));
  const rule = everyMatch(new RegExp(`(['"\`/])(?<name>${names})(?=['"\`/])`, 'g'), ({ groups }, { path }) => {
    const name = groups?.['name'] ?? '';
    if (NAMES_ALLOWED.some(([file, allowed]) => file === path && allowed === name)) return undefined;
    return `names the collection ${name}; derive it from engine/schema/catalogue.ts`;
  });
  return rule(product);
};

const SECTIONS = 'engine/snapshot/sections.ts';
const sectionNamesOf = (isWhole: boolean): readonly string[] =>
  GROUPS.filter(({ path }) => (path === '') === isWhole).flatMap((group) =>
    Object.keys(group.kinds).map((key) => sectionName(group, key, '')),
  );

/**
 * No section of a snapshot is named outside the table of them, in product code: neither whole, as `x.text`, nor by a
 * suffix that is no common word, nor the folder of a run.
 */
export const sectionsAreNamedOnce: Rule = (sources) => {
  const suffixes = sectionNamesOf(false);
  const suffix = suffixes.join('|');
  const rare = [...sectionNamesOf(true), ...suffixes.filter((name) => /[A-Z]/.test(name))].join('|');
  const folder = GROUPS.flatMap(({ path }) => path.split('/').slice(1, -1)).join('|');
  const patterns = [
    `['"\`\\w}]\\.(?:${suffix})['"\`]`,
    `(['"\`])(?:${rare})\\1`,
    `[}'"\`]/(?:${folder})/`,
    // In regular expressions.
    `\\\\\\.\\(?(?:${suffix})\\b|\\\\/(?:${folder})\\\\/`,
  ];
  const product = sources.filter(({ path }) => !/^(?:test|bench)\//.test(path) && path !== SECTIONS);
  return patterns.flatMap((pattern) =>
    everyMatch(new RegExp(pattern, 'g'), ([name]) => `names a section, ${name}; derive it from ${SECTIONS}`)(product),
  );
};

/** Nothing is left for later, and no test is left alone. */
export const nothingIsLeftOver: Rule = (sources) =>
  sources.flatMap((source) => {
    const notes = [...source.text.matchAll(/\b(?:TO[D]O|FIX[M]E|X[X]X)\b/g)].map(
      ({ index }) => `${placeOf(source, index)} a note for later; do it, or put it where work is planned`,
    );
    const alone = [...source.code.matchAll(/\b(?:test|describe|it)\.only\b/g)].map(
      ({ index }) => `${placeOf(source, index)} runs alone; take the .only away`,
    );
    return [...notes, ...alone];
  });

const CALLERS =
  /(?:^|[.;,] )(?:only )?(?:called|used|started|imported|made|read|built|written|filled|shared|emitted) (?:only )?(?:by|through) [^.;]*\.(?:ts|js)\b/i;

/** No header says who calls the file: such lines go stale, and an editor knows. */
export const headersNameNoCallers: Rule = (sources) =>
  sources.flatMap(({ path, text }) => {
    const header = /^(?:\/\/.*\n)+/.exec(text.replace(/^#!.*\n/, ''))?.[0] ?? '';
    const names = CALLERS.test(header.replace(/\n\/\/ /g, ' ').replace(/^\/\/ /, ''));
    return names ? [`${path}:1 says who calls it; leave that to an editor`] : [];
  });

const WIDTH_MAX = 120;

/** No comment is wider than code may be. */
export const commentsAreNarrow: Rule = (sources) =>
  sources.flatMap((source) => {
    const code = source.code.split('\n');
    return source.text.split('\n').flatMap((line, i) => {
      const isComment = line.length > WIDTH_MAX && code[i]!.trimEnd().length < line.trimEnd().length;
      return isComment ? [`${source.path}:${i + 1} a comment beyond column ${WIDTH_MAX}; wrap it`] : [];
    });
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

/** The comments of a source at their places, all else blank; of a document, all of it. */
function commentsOf({ path, text, code }: Source): string {
  if (path.endsWith('.md')) return text;
  return text
    .split('')
    .map((character, i) => (code[i] === character && character !== '\n' ? ' ' : character))
    .join('');
}

/** Every file is imported, but those that are started: `entries` has their paths, or their folders with a slash. */
export function filesAreImported(entries: readonly string[]): Rule {
  return (sources) => {
    const imported = new Set(
      sources.flatMap(({ path, code }) =>
        [...code.matchAll(/(['"])(\.\.?\/[^'"\n]+)\1/g)].map(([, , target]) =>
          posix.join(posix.dirname(path), target!),
        ),
      ),
    );
    return sources
      .map(({ path }) => path)
      .filter((path) => !imported.has(path) && !entries.some((entry) => path === entry || isBelow(path, entry)))
      .map((path) => `${path}:1 nothing imports it; remove it`);
  };
}

function isBelow(path: string, folder: string): boolean {
  return folder.endsWith('/') && path.startsWith(folder);
}
