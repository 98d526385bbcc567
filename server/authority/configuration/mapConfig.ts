// Imports the older form of a configuration's trusted hosts, `mapConfig.xml` (authority design: Configuration). Reads
// `AAmap/thisHost` (its name only) and `AAmap/trusted`; other elements there, such as pages for logging in, are
// ignored.
import { attributeOf, childElements, ownText, type XmlElement } from '../../../data/xml/element.ts';
import type { Place } from '../../settings/toml.ts';
import { readXml, type XmlLimits, type XmlProblem } from '../../../data/xml/reader.ts';
import { FILE_BYTES_MAX, readText } from './files.ts';
import type { HostDraft } from './hosts.ts';
import type { Mistakes } from './mistakes.ts';

/** What the older file holds. `siteName` is undefined where it names none. */
export interface MapConfig {
  readonly siteName: { readonly name: string; readonly place: Place } | undefined;
  readonly hosts: readonly HostDraft[];
}

const NOTHING: MapConfig = { siteName: undefined, hosts: [] };
/** What may be wrong but for the form. */
const REASONS: Readonly<Partial<Record<XmlProblem, string>>> = {
  documentType: 'has a DOCTYPE, which is not read',
  tooLong: 'has a name or attribute that is too long',
  tooDeep: 'has elements more than 32 deep',
  tooManyElements: 'has more than 100,000 elements',
  tooManyAttributes: 'has an element with more than 64 attributes',
  processingInstruction: 'has more than 64 processing instructions',
};
const LIMITS: XmlLimits = { depth: 32, elements: 100_000, attributes: 64, instructions: 64 };

/** Elements that hold the parts of a trusted host: its address, under two names, and its signer. */
const ADDRESSES = ['aaURI', 'wsdl'] as const;
const SIGNER = 'aaDN';

/**
 * Reads the file; what is wrong with its form is a mistake, the first one alone, and what it says is checked by
 * hosts.ts. Of a host each part stands there once.
 */
export function readMapConfig(path: string, place: Place, mistakes: Mistakes): MapConfig {
  const text = readText(path, FILE_BYTES_MAX.mapConfig, place, mistakes);
  if (text === undefined) return NOTHING;
  const starts = new Map<XmlElement, number>();
  const ends = new Map<XmlElement, number>();
  const reading = readXml(text, LIMITS, {
    started: (element, line) => starts.set(element, line),
    ended: (element, line) => ends.set(element, line),
  });
  if (reading.kind === 'refused') {
    mistakes.add({ file: path }, REASONS[reading.problem] ?? `is not well-formed XML: ${reading.words}`);
    return NOTHING;
  }
  const { root } = reading;
  const placeOf = (element: XmlElement): Place => ({ file: path, line: starts.get(element) });
  if (root.name !== 'AAmap') {
    mistakes.add(placeOf(root), `the root is ${root.name}; want AAmap`);
    return NOTHING;
  }
  const [site] = named(root, 'thisHost')
    .filter((element) => attributeOf(element, '', 'name') !== undefined)
    .toReversed();
  return {
    siteName: site && { name: attributeOf(site, '', 'name')!, place: placeOf(site) },
    hosts: named(root, 'trusted').map((host) => {
      const addresses = ADDRESSES.map((name) => textIn(host, name)).filter((address) => address !== '');
      const name = attributeOf(host, '', 'name') ?? '';
      for (const part of [...ADDRESSES, SIGNER]) {
        const [, second] = named(host, part);
        if (second) mistakes.add(placeOf(second), `${name} has more than one ${part}`);
      }
      if (new Set(addresses).size > 1) {
        mistakes.add({ file: path, line: ends.get(host) }, `${name} has two addresses: ${addresses.join(' and ')}`);
      }
      const mappings = named(host, 'role').map((role) => ({
        remote: attributeOf(role, '', 'remote') ?? '',
        local: attributeOf(role, '', 'local') ?? '',
        place: placeOf(role),
      }));
      return { name, uri: addresses[0] ?? '', signer: textIn(host, SIGNER), place: placeOf(host), mappings };
    }),
  };
}

function named(parent: XmlElement, name: string): XmlElement[] {
  return childElements(parent).filter((element) => element.name === name);
}

/** The text of the first element of a name; '' where there is none. */
function textIn(host: XmlElement, name: string): string {
  return named(host, name).map(ownText)[0]?.trim() ?? '';
}
