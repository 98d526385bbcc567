// Third-party SOAP clients as values: their dependencies, how to build them from the served WSDL, and how to run them.
// Their programs are in test/soapClients/; each runs a list of cases and prints the results, which are parsed here.
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createClientAsync } from 'soap';
import { inject } from 'vitest';
import { hasLibrary, hasProgram, type Library, type Program } from '../support/debian.ts';

/** One call: an operation and the values of its parts. */
export interface Case {
  readonly operation: 'reqAuthorisation' | 'getTrustedHostInfo';
  readonly values: readonly string[];
}

/**
 * A value of a response as the client sees it: a text, a list of texts, or another type, by its name in the client's
 * language.
 */
export type Value = string | readonly Value[] | { readonly other: string };

/** The result of a call: the results by name, in their order, or the fault. */
export type Outcome =
  | { readonly results: readonly (readonly [name: string, value: Value])[] }
  | { readonly code: string; readonly text: string };

/**
 * A client. `http` is its HTTP version; `hasAstral` whether it sends characters beyond U+FFFF correctly; `empty` is its
 * value for an empty text.
 */
export interface SoapClient {
  readonly name: string;
  readonly isInstalled: boolean;
  readonly http: '1.0' | '1.1';
  readonly hasAstral: boolean;
  readonly empty: Value;
  /** Builds the files that `run` needs in an empty directory, from the WSDL at this address. */
  build(directory: string, wsdl: string): Promise<void>;
  run(directory: string, endpoint: string, cases: readonly Case[]): Promise<readonly Outcome[]>;
}

const execute = promisify(execFile);
const SOURCES = fileURLToPath(new URL('.', import.meta.url));
const OUTPUT_BYTES_MAX = 64 << 20;
const JARS = [
  'axis',
  'jaxrpc',
  'saaj',
  'wsdl4j',
  'commons-logging',
  'commons-discovery',
  'javax.mail',
  'javax.activation',
];
const CLASS_PATH = JARS.map((name) => `/usr/share/java/${name}.jar`).join(':');

/** A client that is a separate program. */
interface ProgramClient {
  readonly name: string;
  readonly needs: readonly (Program | Library)[];
  readonly http?: '1.0';
  readonly hasAstral?: boolean;
  readonly empty?: Value;
  readonly build?: SoapClient['build'];
  /** The command line up to endpoint and WSDL; the file of cases is appended. */
  command(directory: string, endpoint: string): readonly string[];
}

const GSOAP = builtOnce(buildGsoap);
const AXIS = builtOnce(buildAxis);

export const SOAP_CLIENTS: readonly SoapClient[] = [
  {
    name: 'node soap',
    isInstalled: true,
    http: '1.1',
    hasAstral: true,
    empty: '',
    build: async () => undefined,
    run: (_, endpoint, cases) => runNodeSoap(endpoint, cases),
  },
  program({
    name: 'PHP ext-soap with the WSDL',
    needs: ['php', 'php-soap'],
    command: (_, endpoint) => ['php', source('client.php'), endpoint, endpoint],
  }),
  program({
    name: 'PHP ext-soap without a WSDL',
    needs: ['php', 'php-soap'],
    command: (_, endpoint) => ['php', source('client.php'), endpoint, ''],
  }),
  program({
    name: 'Perl SOAP::Lite with the WSDL',
    needs: ['libsoap-lite-perl'],
    command: (_, endpoint) => ['/usr/bin/perl', source('client.pl'), endpoint, endpoint],
  }),
  program({
    name: 'Perl SOAP::Lite by proxy',
    needs: ['libsoap-lite-perl'],
    command: (_, endpoint) => ['/usr/bin/perl', source('client.pl'), endpoint, ''],
  }),
  program({
    name: 'Python zeep',
    needs: ['python3-zeep'],
    // It has no empty text: an element without content becomes None, whatever its type.
    empty: { other: 'NoneType' },
    command: (_, endpoint) => ['/usr/bin/python3', source('client.py'), endpoint, endpoint],
  }),
  program({
    name: 'gSOAP',
    needs: ['wsdl2h', 'g++', 'libgsoap-dev'],
    build: GSOAP,
    command: (directory, endpoint) => [join(directory, 'client'), endpoint, ''],
  }),
  program({
    name: 'gSOAP in chunks',
    needs: ['wsdl2h', 'g++', 'libgsoap-dev'],
    build: GSOAP,
    command: (directory, endpoint) => [join(directory, 'client'), endpoint, 'chunked'],
  }),
  program({
    name: 'Apache Axis with calls made by hand',
    needs: ['javac', 'libaxis-java'],
    http: '1.0',
    // It sends them as references to two halves of a surrogate pair, which is not XML.
    hasAstral: false,
    build: AXIS,
    command: (directory, endpoint) => ['java', '-cp', `${directory}:${CLASS_PATH}`, 'DynamicClient', endpoint, ''],
  }),
  program({
    name: 'Apache Axis with a stub',
    needs: ['javac', 'libaxis-java'],
    http: '1.0',
    hasAstral: false,
    build: AXIS,
    command: (directory, endpoint) => ['java', '-cp', `${directory}:${CLASS_PATH}`, 'StubClient', endpoint, ''],
  }),
];

function program({ name, needs, ...rest }: ProgramClient): SoapClient {
  return {
    name,
    isInstalled: needs.every(isInstalled),
    http: rest.http ?? '1.1',
    hasAstral: rest.hasAstral ?? true,
    empty: rest.empty ?? '',
    build: rest.build ?? (async () => undefined),
    run: async (directory, endpoint, cases) => {
      const [file = '', ...words] = rest.command(directory, endpoint);
      const { stdout } = await execute(file, [...words, writeCases(directory, cases)], {
        encoding: 'buffer',
        maxBuffer: OUTPUT_BYTES_MAX,
      });
      return outcomesIn(stdout);
    },
  };
}

function isInstalled(name: Program | Library): boolean {
  return name.includes('-') ? hasLibrary(name as Library) : hasProgram(name as Program);
}

function source(name: string): string {
  return join(SOURCES, name);
}

/** Writes each value to a separate file, because a command line is too short for them, and their names to one more. */
function writeCases(directory: string, cases: readonly Case[]): string {
  const lines = cases.map(({ operation, values }, i) => {
    const files = values.map((value, j) => {
      const file = join(directory, `value-${i}-${j}`);
      writeFileSync(file, value);
      return file;
    });
    return [operation, ...files].join('\t');
  });
  const list = join(directory, 'cases');
  writeFileSync(list, lines.map((line) => `${line}\n`).join(''));
  return list;
}

/*
 * Parses what a program prints for each case, UTF-8, with the length of each text in bytes:
 *
 *   case
 *   string NAME BYTES         and, on the next line, the text
 *   other NAME BYTES          and the name of a type that is not a string
 *   fault CODE BYTES          and the text of the fault
 *   list NAME COUNT           and COUNT texts named item
 */
function outcomesIn(printed: Buffer): readonly Outcome[] {
  const outcomes: Outcome[] = [];
  let at = 0;
  const line = (): readonly string[] => {
    const end = printed.indexOf('\n', at);
    const words = printed.toString('utf8', at, end).split(' ');
    at = end + 1;
    return words;
  };
  const text = (bytes: number): string => {
    at += bytes + 1;
    return printed.toString('utf8', at - bytes - 1, at - 1);
  };
  const value = (kind: string, count: number): Value => {
    if (kind === 'string') return text(count);
    if (kind === 'other') return { other: text(count) };
    if (kind !== 'list') throw new Error(`a client printed ${kind} at byte ${at}`);
    return Array.from({ length: count }, () => {
      const [entryKind = '', , entryCount] = line();
      return value(entryKind, Number(entryCount));
    });
  };
  let results: (readonly [string, Value])[] = [];
  while (at < printed.length) {
    const [kind = '', name = '', count] = line();
    if (kind === 'case') outcomes.push({ results: (results = []) });
    else if (kind === 'fault') outcomes.splice(-1, 1, { code: name, text: text(Number(count)) });
    else results.push([name, value(kind, Number(count))]);
  }
  return outcomes;
}

/** Builds once from the WSDL at an address; later builds from the same address are copies. */
function builtOnce(build: SoapClient['build']): SoapClient['build'] {
  const built = new Map<string, Promise<string>>();
  const builtAt = async (wsdl: string): Promise<string> => {
    const directory = mkdtempSync(join(inject('runDirectory'), 'soap-client-'));
    await build(directory, wsdl);
    return directory;
  };
  return async (directory, wsdl) => {
    const building = built.get(wsdl) ?? builtAt(wsdl);
    built.set(wsdl, building);
    cpSync(await building, directory, { recursive: true });
  };
}

async function buildGsoap(directory: string, wsdl: string): Promise<void> {
  const options = { cwd: directory };
  await execute('wsdl2h', ['-o', 'att.h', wsdl], options);
  await execute('soapcpp2', ['-C', '-x', '-L', '-I/usr/share/gsoap/import', 'att.h'], options);
  const sources = [source('client.cpp'), 'soapC.cpp', 'soapClient.cpp'];
  await execute('g++', ['-O0', '-I.', '-o', 'client', ...sources, '-lgsoap++'], options);
}

async function buildAxis(directory: string, wsdl: string): Promise<void> {
  const options = { cwd: directory };
  await execute('java', ['-cp', CLASS_PATH, 'org.apache.axis.wsdl.WSDL2Java', '-o', '.', '-p', 'aa', wsdl], options);
  const generated = ['aa', 'aa/holders'].flatMap((name) => javaFiles(join(directory, name)));
  await execute('javac', ['-nowarn', '-cp', CLASS_PATH, '-d', '.', ...generated, ...javaFiles(SOURCES)], options);
}

function javaFiles(directory: string): readonly string[] {
  const names = readdirSync(directory).filter((name) => name.endsWith('.java'));
  return names.map((name) => join(directory, name));
}

/** An element as node soap represents it: its attributes, its text if it has any, its children by name. */
interface NodeElement {
  readonly $value?: string;
  readonly item?: NodeElement | readonly NodeElement[];
  readonly attributes?: Readonly<Record<string, string>>;
}

async function runNodeSoap(endpoint: string, cases: readonly Case[]): Promise<readonly Outcome[]> {
  const client = await createClientAsync(`${endpoint}?wsdl`, { endpoint });
  const outcomes: Outcome[] = [];
  for (const { operation, values } of cases) {
    const [first = '', second = ''] = values;
    const parts = operation === 'reqAuthorisation' ? { usrProxyCert: first, usrAttCert: second } : { usrRole: first };
    const call = client[`${operation}Async`] as (parts: object) => Promise<readonly [Record<string, NodeElement>]>;
    outcomes.push(await call.call(client, parts).then(([answer]) => nodeOutcome(answer), nodeFault));
  }
  return outcomes;
}

function nodeOutcome(answer: Record<string, NodeElement>): Outcome {
  const named = Object.entries(answer).filter(([name]) => name !== 'attributes');
  return { results: named.map(([name, element]) => [name, nodeValue(element)]) };
}

function nodeValue({ $value, item = [], attributes }: NodeElement): Value {
  if (attributes?.['xsi:type'] !== 'SOAP-ENC:Array') return $value ?? '';
  return (Array.isArray(item) ? item : [item]).map(nodeValue);
}

function nodeFault(
  error: Error & { root?: { Envelope: { Body: { Fault: { faultcode: string; faultstring: string } } } } },
): Outcome {
  if (error.root === undefined) throw error;
  const { faultcode, faultstring } = error.root.Envelope.Body.Fault;
  return { code: faultcode, text: faultstring };
}
