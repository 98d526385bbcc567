// Imports the older form of a configuration's trusted hosts, `mapConfig.xml` (authority design: Configuration). Reads
// `AAmap/thisHost` (its name only) and `AAmap/trusted`; other elements there, such as pages for logging in, are
// ignored.
import { SaxesParser } from 'saxes';
import { readText, type Place } from './files.ts';
import type { HostDraft } from './hosts.ts';
import type { Mistakes } from './mistakes.ts';

/** What the older file holds. `siteName` is undefined where it names none. */
export interface MapConfig {
  readonly siteName: { readonly name: string; readonly place: Place } | undefined;
  readonly hosts: readonly HostDraft[];
}

type Draft = { -readonly [K in keyof HostDraft]: HostDraft[K] } & {
  readonly texts: Map<string, string>;
  readonly mappings: HostDraft['mappings'][number][];
};

/** Elements that hold the parts of a trusted host: its address, under two names, and its signer. */
const ADDRESSES = ['aaURI', 'wsdl'] as const;
const SIGNER = 'aaDN';

/** Reads the file; what is wrong with its form is a mistake, what it says is checked by hosts.ts. */
export function readMapConfig(path: string, place: Place, mistakes: Mistakes): MapConfig {
  const text = readText(path, place, mistakes);
  const hosts: Draft[] = [];
  let siteName: MapConfig['siteName'];
  if (text === undefined) return { siteName, hosts };
  // Positions come from the parser, which stops nowhere: the first fault of the form is told, and what was read is
  // dropped.
  const parser = new SaxesParser({ xmlns: false, position: true });
  const here = (): Place => ({ file: path, line: parser.line });
  const open: string[] = [];
  let fault: string | undefined;
  const complain = (message: string): void => mistakes.add(path, parser.line, message);
  parser.on('error', (error) => (fault ??= `is not well-formed XML: ${error.message}`));
  parser.on('doctype', () => (fault ??= 'has a DOCTYPE, which is not read'));
  parser.on('opentag', ({ name, attributes }) => {
    open.push(name);
    const place = open.join('/');
    if (open.length === 1 && name !== 'AAmap') complain(`the root is ${name}; want AAmap`);
    if (place === 'AAmap/thisHost' && attributes['name'] !== undefined)
      siteName = { name: attributes['name'], place: here() };
    if (place === 'AAmap/trusted') hosts.push(draftOf(attributes['name'] ?? '', here()));
    if (place === 'AAmap/trusted/role') {
      const { remote = '', local = '' } = attributes;
      hosts.at(-1)?.mappings.push({ remote, local, place: here() });
    }
  });
  const addText = (piece: string): void => {
    const host = hosts.at(-1);
    if (open.length !== 3 || open[1] !== 'trusted' || !host) return;
    host.texts.set(open[2]!, (host.texts.get(open[2]!) ?? '') + piece);
  };
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('closetag', () => {
    if (open.join('/') === 'AAmap/trusted') finish(hosts.at(-1)!, complain);
    open.pop();
  });
  parser.write(text).close();
  if (fault === undefined) return { siteName, hosts };
  mistakes.add(path, undefined, fault);
  return { siteName: undefined, hosts: [] };
}

function draftOf(name: string, place: Place): Draft {
  return { name, uri: '', signer: '', place, mappings: [], texts: new Map() };
}

function finish(draft: Draft, complain: (message: string) => void): void {
  const addresses = ADDRESSES.map((name) => draft.texts.get(name)?.trim()).filter(
    (text) => text !== undefined && text !== '',
  );
  if (new Set(addresses).size > 1) complain(`${draft.name} has two addresses: ${addresses.join(' and ')}`);
  draft.uri = addresses[0] ?? '';
  draft.signer = draft.texts.get(SIGNER)?.trim() ?? '';
}
