// The trusted hosts of a configuration, from its table or from the older format `mapConfig.xml` (authority design:
// Configuration). Of the older format only `AAmap/thisHost` and `AAmap/trusted` are read.
import {
  readAttribute,
  childElements,
  textContent,
  readXml,
  type XmlElement,
  type XmlLimits,
  type XmlProblem,
} from '../../../data/xml/xml.ts';
import { type Place, placeText, type TomlDocument, type TomlPath } from '../../settings/toml.ts';
import { FILE_BYTES_MAX, type Mistakes, readText } from './files.ts';
import { nameKeysUnder, type Namespaces } from '../x509/nameConstraints.ts';
import { personProblem, roleProblem, siteNameProblem } from './users.ts';

/** The content of the older file. `siteName` is undefined if the file has none. */
interface MapConfig {
  readonly siteName: { readonly name: string; readonly place: Place } | undefined;
  readonly hosts: readonly HostDraft[];
}

const NOTHING: MapConfig = { siteName: undefined, hosts: [] };
const REASONS: Readonly<Partial<Record<XmlProblem, string>>> = {
  documentType: 'has a DOCTYPE, which is not read',
  tooLong: 'has a name or attribute that is too long',
  tooDeep: 'has elements more than 32 deep',
  tooManyElements: 'has more than 100,000 elements',
  tooManyAttributes: 'has an element with more than 64 attributes',
  processingInstruction: 'has more than 64 processing instructions',
};
const LIMITS: XmlLimits = { depth: 32, elements: 100_000, attributes: 64, instructions: 64 };

/** The child elements of a trusted host. Its address has one of two names; the other child is its signer. */
const ADDRESSES = ['aaURI', 'wsdl'] as const;
const SIGNER = 'aaDN';

/** Reads `mapConfig.xml`. Reports only the first syntax error; checkHosts validates the content. */
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
  const findPlace = (element: XmlElement): Place => ({ file: path, line: starts.get(element) });
  if (root.name !== 'AAmap') {
    mistakes.add(findPlace(root), `the root is ${root.name}; want AAmap`);
    return NOTHING;
  }
  const [site] = childrenNamed(root, 'thisHost')
    .filter((element) => readAttribute(element, '', 'name') !== undefined)
    .toReversed();
  return {
    siteName: site && { name: readAttribute(site, '', 'name')!, place: findPlace(site) },
    hosts: childrenNamed(root, 'trusted').map((host) => {
      const addresses = ADDRESSES.map((name) => readChildText(host, name)).filter((address) => address !== '');
      const name = readAttribute(host, '', 'name') ?? '';
      for (const part of [...ADDRESSES, SIGNER]) {
        const [, second] = childrenNamed(host, part);
        if (second) mistakes.add(findPlace(second), `${name} has more than one ${part}`);
      }
      if (new Set(addresses).size > 1) {
        mistakes.add({ file: path, line: ends.get(host) }, `${name} has two addresses: ${addresses.join(' and ')}`);
      }
      const mappings = childrenNamed(host, 'role').map((role) => ({
        remote: readAttribute(role, '', 'remote') ?? '',
        local: readAttribute(role, '', 'local') ?? '',
        place: findPlace(role),
      }));
      return { name, uri: addresses[0] ?? '', signer: readChildText(host, SIGNER), place: findPlace(host), mappings };
    }),
  };
}

function childrenNamed(parent: XmlElement, name: string): XmlElement[] {
  return childElements(parent).filter((element) => element.name === name);
}

function readChildText(host: XmlElement, name: string): string {
  return childrenNamed(host, name).map(textContent)[0]?.trim() ?? '';
}

interface RoleMapping {
  readonly remote: string;
  readonly local: string;
}

export interface TrustedHost {
  readonly name: string;
  readonly uri: string;
  /** The key (see NameKeys) of the subject of its signing certificate. */
  readonly signer: string;
  readonly mappings: readonly RoleMapping[];
}

export interface HostDraft {
  readonly name: string;
  readonly uri: string;
  readonly signer: string;
  readonly place: Place;
  readonly mappings: readonly (RoleMapping & { readonly place: Place })[];
}

interface HostContext {
  readonly siteName: string;
  readonly namespaces: Namespaces | undefined;
  readonly mistakes: Mistakes;
}

/**
 * Validates drafts and returns the hosts in the same order. `siteName` is the local site, which cannot trust itself.
 */
export function checkHosts(
  drafts: readonly HostDraft[],
  { siteName, namespaces, mistakes }: HostContext,
): readonly TrustedHost[] {
  const places = new Map<string, Place>();
  return drafts.map((draft) => {
    const complain = reportAt(draft.place, mistakes);
    const earlier = places.get(draft.name);
    if (earlier) complain(`the trusted host ${JSON.stringify(draft.name)} is also at ${placeText(earlier)}`);
    else places.set(draft.name, draft.place);
    if (draft.name === siteName) complain(`the trusted host ${JSON.stringify(draft.name)} has the name of this site`);
    complain(textProblem('name', draft.name, siteNameProblem));
    complain(textProblem('signer', draft.signer, personProblem));
    if (!isAddress(draft.uri))
      complain(`${describeReceived('uri', draft.uri)}, want an address such as https://host/path`);
    const mappings = draft.mappings.map(({ remote, local, place }) => {
      reportAt(place, mistakes)(textProblem('remote', remote, roleProblem));
      reportAt(place, mistakes)(textProblem('local', local, roleProblem));
      return { remote, local };
    });
    return { name: draft.name, uri: draft.uri, signer: nameKeysUnder(namespaces).ofText(draft.signer) ?? '', mappings };
  });
}

export function hostNotes(drafts: readonly HostDraft[]): readonly string[] {
  const bare = drafts.filter(({ mappings }) => mappings.length === 0);
  return bare.map(({ name }) => `the trusted host ${JSON.stringify(name)} maps no roles: its users get none here`);
}

function reportAt(place: Place, mistakes: Mistakes): (message: string | undefined) => void {
  return (message) => {
    if (message !== undefined) mistakes.add(place, message);
  };
}

function textProblem(subject: string, text: string, judge: (text: string) => string | undefined): string | undefined {
  const problem = judge(text);
  if (text === '') return describeReceived(subject, text);
  return problem && `${subject}: ${JSON.stringify(text)} ${problem}`;
}

/** Describes the value of a key. A missing key reads as ''. */
function describeReceived(key: string, text: string): string {
  return text === '' ? `${key} is missing or empty` : `${key}: got ${JSON.stringify(text)}`;
}

/** An absolute URI in printable ASCII, because clients receive it unchanged. */
function isAddress(uri: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\/[!-~]+$/i.test(uri) && URL.canParse(uri);
}

const HOST_KEYS = ['name', 'uri', 'signer', 'roles'];
const MAPPING_KEYS = ['remote', 'local'];

export function hostDrafts(
  tables: unknown,
  { placeOf, mistakes }: Pick<TomlDocument, 'placeOf'> & { readonly mistakes: Mistakes },
): readonly HostDraft[] {
  if (tables === undefined) return [];
  if (!Array.isArray(tables)) {
    mistakes.add(placeOf(['trustedHost']), 'trustedHost: want tables, each begun with [[trustedHost]]');
    return [];
  }
  return tables.map((table: unknown, i) => {
    const path = ['trustedHost', i];
    const fields = readTexts(table, path, HOST_KEYS, ['roles']);
    const roles: unknown = fields.get('roles');
    if (roles !== undefined && !Array.isArray(roles))
      complain([...path, 'roles'], 'roles: want an array of { remote, local }');
    const mappings = (Array.isArray(roles) ? roles : []).map((role: unknown, k) => {
      const rolePath = [...path, 'roles', k];
      const names = readTexts(role, rolePath, MAPPING_KEYS, []);
      return { remote: findText(names, 'remote'), local: findText(names, 'local'), place: placeOf(rolePath) };
    });
    const [name, uri, signer] = ['name', 'uri', 'signer'].map((key) => findText(fields, key));
    return { name: name!, uri: uri!, signer: signer!, place: placeOf(path), mappings };
  });

  function complain(path: TomlPath, message: string): void {
    mistakes.add(placeOf(path), message);
  }

  /** The members of a table. Those not in `other` must be strings. A missing one reads as '' and is refused later. */
  function readTexts(
    table: unknown,
    path: TomlPath,
    required: readonly string[],
    other: readonly string[],
  ): ReadonlyMap<string, unknown> {
    const members = new Map(Object.entries(table !== null && typeof table === 'object' ? table : {}));
    for (const key of members.keys()) {
      if (!required.includes(key))
        complain([...path, key], `unknown key ${JSON.stringify(key)}; known are ${required.join(', ')}`);
    }
    for (const key of required) {
      const isText = ['string', 'undefined'].includes(typeof members.get(key));
      if (!other.includes(key) && !isText) complain([...path, key], `${key}: want a string`);
    }
    return members;
  }
}

function findText(members: ReadonlyMap<string, unknown>, key: string): string {
  const value = members.get(key);
  return typeof value === 'string' ? value : '';
}
