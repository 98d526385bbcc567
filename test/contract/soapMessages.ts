// Contents of requests, row by row of the design's table of the message level: bytes, and their meaning or fault. Data
// only.
import type { FaultName } from '../../server/authority/soap/faults.ts';
import { call, ENVELOPE, envelope, roleCall, TOOLKIT_ENVELOPES } from '../support/envelopes.ts';

/** A request: the operation's name and its values, or the name of the fault; `charset` is that of its Content-Type. */
export type MessageCase = readonly [
  name: string,
  bytes: string | Uint8Array,
  read: readonly string[] | FaultName,
  charset?: string,
];

const hostInfo = (role: string): readonly string[] => ['getTrustedHostInfo', role];
const authorisation = (proxy: string, attribute: string): readonly string[] => ['reqAuthorisation', proxy, attribute];
const info = (parts: string): string => call('getTrustedHostInfo', parts);

/** The meaning of many of them. */
const ACADEMIC = hostInfo('academic');

const TEXT = roleCall('Ångström 日本 𝄞');
const WORLD = hostInfo('Ångström 日本 𝄞');
const latin1 = (body: string): Buffer => Buffer.from(body, 'latin1');
const utf16be = (body: string): Buffer => Buffer.from(body, 'utf16le').swap16();
const declaring = (encoding: string, body: string): string => `<?xml version="1.0" encoding="${encoding}"?>${body}`;

const READ: readonly MessageCase[] = [
  ['UTF-8', Buffer.from(TEXT), WORLD],
  ['UTF-8 with a mark', Buffer.from(`\ufeff${TEXT}`), WORLD],
  ['UTF-16 with a little-endian mark', Buffer.from(`\ufeff${TEXT}`, 'utf16le'), WORLD],
  ['UTF-16 with a big-endian mark', utf16be(`\ufeff${TEXT}`), WORLD],
  ['UTF-16 with a mark, under its name', Buffer.from(`\ufeff${TEXT}`, 'utf16le'), WORLD, 'UTF-16'],
  ['UTF-16 with a mark that contradicts the charset', Buffer.from(`\ufeff${TEXT}`, 'utf16le'), WORLD, 'utf-8'],
  [
    'UTF-16 with a mark that contradicts the declaration',
    Buffer.from(`\ufeff${declaring('utf-8', TEXT)}`, 'utf16le'),
    WORLD,
  ],
  ['UTF-16 of a named byte order', Buffer.from(TEXT, 'utf16le'), WORLD, 'utf-16LE'],
  ['UTF-8 that contradicts the declaration', Buffer.from(declaring('ISO-8859-1', TEXT)), WORLD, 'utf-8'],
  ['UTF-8 with a mark that contradicts the declaration', Buffer.from(`\ufeff${declaring('ISO-8859-1', TEXT)}`), WORLD],
  ['ISO-8859-1 by its charset', latin1(roleCall('Ångström')), hostInfo('Ångström'), 'ISO-8859-1'],
  ['ISO-8859-1 by its declaration', latin1(declaring('iso-8859-1', roleCall('Ångström'))), hostInfo('Ångström')],
];

const UNDECODABLE: readonly MessageCase[] = [
  ['ill-formed UTF-8', latin1(roleCall('Ångström')), 'undecodable'],
  ['an overlong form', Buffer.concat([Buffer.from(roleCall('x')), Buffer.of(0xc0, 0x80)]), 'undecodable'],
  ['a surrogate in UTF-8', Buffer.from(roleCall('x').replace('x', '\xed\xa0\x80'), 'latin1'), 'undecodable'],
  ['half a character of UTF-16', Buffer.from(`\ufeff${roleCall('x')}`, 'utf16le').subarray(0, -1), 'undecodable'],
  ['a lone surrogate in UTF-16', Buffer.from(`\ufeff${roleCall('\ud834')}`, 'utf16le'), 'undecodable'],
  ['UTF-16 without a mark', Buffer.from(TEXT, 'utf16le'), 'undecodable', 'utf-16'],
  ['an unknown charset', Buffer.from(TEXT), 'undecodable', 'klingon'],
  ['an unknown declaration', Buffer.from(declaring('ebcdic-cp-be', TEXT)), 'undecodable'],
  ['UTF-8 that is declared as UTF-16', Buffer.from(declaring('UTF-16', TEXT)), 'undecodable'],
  ['UTF-16 without mark, charset or declaration', Buffer.from(roleCall('x'), 'utf16le'), 'illFormed'],
];

const deep = (depth: number): string => '<d>'.repeat(depth) + '</d>'.repeat(depth);
const attributes = (count: number): string => Array.from({ length: count }, (_, i) => `a${i}=""`).join(' ');

const NO_XML: readonly MessageCase[] = [
  ['nothing', '', 'illFormed'],
  ['blanks', ' \n', 'illFormed'],
  ['text', 'hello', 'illFormed'],
  ['JSON', '{"a":1}', 'illFormed'],
  ['an open element', roleCall('x').slice(0, -1), 'illFormed'],
  ['a wrong end tag', roleCall('x').replace('</usrRole>', '</usrrole>'), 'illFormed'],
  ['a document type', `<!DOCTYPE a>${roleCall('x')}`, 'documentType'],
  ['an entity', `<!DOCTYPE a [<!ENTITY e "x">]>${roleCall('&e;')}`, 'documentType'],
  ['an external entity', `<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]>${roleCall('&e;')}`, 'documentType'],
  ['an external document type', `<!DOCTYPE a SYSTEM "http://127.0.0.1/x.dtd">${roleCall('x')}`, 'documentType'],
  ['an undeclared entity', roleCall('&nbsp;'), 'illFormed'],
  ['a bare ampersand', roleCall('a & b'), 'illFormed'],
  ['a control character', roleCall('\x01'), 'illFormed'],
  ['a reference to a control character', roleCall('&#1;'), 'illFormed'],
  ['a noncharacter', roleCall('\uffff'), 'illFormed'],
  ['the end of a CDATA section alone', roleCall(']]>'), 'illFormed'],
  ['an undeclared prefix of an element', info('<x:usrRole>a</x:usrRole>'), 'illFormed'],
  ['an undeclared prefix of an attribute', info('<usrRole xsi:type="y">a</usrRole>'), 'illFormed'],
  ['a digit after a prefix', info('<q:1/>'), 'illFormed'],
  ['a digit after the prefix of an attribute', info('<usrRole q:1="a"/>'), 'illFormed'],
  ['a prefix that is a digit', info('<usrRole xmlns:1="u:1"/>'), 'illFormed'],
  ['an attribute twice', info('<usrRole a="1" a="2">a</usrRole>'), 'illFormed'],
  [
    'an attribute twice under two prefixes',
    info('<usrRole xmlns:a="u:1" xmlns:b="u:1" a:type="1" b:type="2">a</usrRole>'),
    'illFormed',
  ],
  ['an attribute without quotes', info('<usrRole a=1>a</usrRole>'), 'illFormed'],
  ['attributes without a blank between', info('<usrRole a="1"b="2">a</usrRole>'), 'illFormed'],
  ['< in an attribute', info('<usrRole a="<">a</usrRole>'), 'illFormed'],
  ['the prefix xml rebound', info('<usrRole xmlns:xml="u:1">a</usrRole>'), 'illFormed'],
  ['a prefix bound to nothing', info('<usrRole xmlns:p="">a</usrRole>'), 'illFormed'],
  ['a second root', roleCall('x') + roleCall('x'), 'illFormed'],
  ['text after the root', `${roleCall('x')}x`, 'illFormed'],
  ['a NUL after the root', `${roleCall('x')}\0`, 'illFormed'],
  ['a declaration that is not first', ` <?xml version="1.0"?>${roleCall('x')}`, 'illFormed'],
  ['a processing instruction', `<?php x?>${roleCall('x')}`, 'processingInstruction'],
  ['33 levels', info(deep(30)), 'tooDeep'],
  ['20,001 elements', info('<u/>'.repeat(19_998)), 'tooManyElements'],
  ['65 attributes', info(`<u ${attributes(65)}/>`), 'tooManyAttributes'],
  ['a name of 1,025 characters', info(`<${'u'.repeat(1025)}/>`), 'tooLong'],
  ['a name of 1,025 characters with its prefix', info(`<a:${'u'.repeat(1023)} xmlns:a="u:1"/>`), 'tooLong'],
  ['an attribute with a name of 1,025 characters', info(`<u ${'a'.repeat(1025)}=""/>`), 'tooLong'],
  ['a namespace of 1,025 characters', info(`<u xmlns:a="${'u'.repeat(1025)}"/>`), 'tooLong'],
  ['a default namespace of 1,025 characters', info(`<u xmlns="${'u'.repeat(1025)}"/>`), 'tooLong'],
  ['an attribute of 8,193 characters', info(`<u a="${'u'.repeat(8193)}"/>`), 'tooLong'],
];

const LARGE: readonly MessageCase[] = [
  [
    'names and namespaces of 1,024 characters, and an attribute of 8,192',
    info(`<${'u'.repeat(1024)} ${'a'.repeat(1024)}="" xmlns:q="${'u'.repeat(1024)}" b="${'u'.repeat(8192)}"/>`),
    hostInfo(''),
  ],
  [
    '32 levels, 20,000 elements and 64 attributes',
    info(`${deep(29)}<u ${attributes(64)}/>${'<u/>'.repeat(19_966)}`),
    hostInfo(''),
  ],
  [
    'a part of 210,000 characters',
    call('reqAuthorisation', `<usrProxyCert>${'MIIB/+='.repeat(30_000)}</usrProxyCert>`),
    authorisation('MIIB/+='.repeat(30_000), ''),
  ],
];

const NEXT = 'http://schemas.xmlsoap.org/soap/actor/next';
const NIL = 'xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:nil';

const OF_ENVELOPE: readonly MessageCase[] = [
  [
    'of SOAP 1.2 is another version',
    roleCall('x').replaceAll(ENVELOPE, 'http://www.w3.org/2003/05/soap-envelope'),
    'versionMismatch',
  ],
  ['in no namespace is another version', '<Envelope><Body/></Envelope>', 'versionMismatch'],
  ['must be called Envelope', roleCall('x').replaceAll('Envelope', 'envelope'), 'notEnvelope'],
  ['must be the root', `<a>${roleCall('x')}</a>`, 'notEnvelope'],
  ['may have an empty Header', envelope(operation('academic'), { header: '<s:Header/>' }), ACADEMIC],
  ['may have a Header without mustUnderstand', withHeader('<h xmlns="u:1">x</h>'), ACADEMIC],
  ['may have mustUnderstand="0"', withHeader('<h s:mustUnderstand="0"/>'), ACADEMIC],
  ['may have a mustUnderstand of another namespace', withHeader('<h mustUnderstand="1"/>'), ACADEMIC],
  ['may have mustUnderstand for another actor', withHeader('<h s:mustUnderstand="1" s:actor="u:other"/>'), ACADEMIC],
  ['may not have mustUnderstand', withHeader('<h s:mustUnderstand="1"/>'), 'mustUnderstand'],
  [
    'may not have mustUnderstand for the next actor',
    withHeader(`<h s:mustUnderstand="1" s:actor="${NEXT}"/>`),
    'mustUnderstand',
  ],
  [
    'may not have mustUnderstand for an empty actor',
    withHeader('<h s:mustUnderstand="1" s:actor=""/>'),
    'mustUnderstand',
  ],
  ['may not have mustUnderstand in its second entry', withHeader('<a/><h s:mustUnderstand="true"/>'), 'mustUnderstand'],
  ['may have mustUnderstand deeper in an entry', withHeader('<a><h s:mustUnderstand="1"/></a>'), ACADEMIC],
  [
    'has its Header first',
    envelope(operation('x')).replace('</s:Envelope>', '<s:Header/></s:Envelope>'),
    'misplacedHeader',
  ],
  ['has one Header', envelope(operation('x'), { header: '<s:Header/><s:Header/>' }), 'misplacedHeader'],
  ['has a Body', `<s:Envelope xmlns:s="${ENVELOPE}"/>`, 'noBody'],
  ['has a Body in its namespace', `<s:Envelope xmlns:s="${ENVELOPE}"><Body/></s:Envelope>`, 'noBody'],
  ['has one Body', envelope(operation('x')).replace('</s:Envelope>', '<s:Body/></s:Envelope>'), 'severalBodies'],
  [
    'may have more after the Body',
    envelope(operation('academic')).replace('</s:Envelope>', '<x/>y</s:Envelope>'),
    ACADEMIC,
  ],
  ['may have two prefixes for one namespace', twoPrefixes(), ACADEMIC],
];

const OF_BODY: readonly MessageCase[] = [
  ['is not empty', envelope(''), 'noOperation'],
  ['is not only text', envelope('getTrustedHostInfo'), 'noOperation'],
  ['has one operation', envelope(operation('a') + operation('b')), 'severalOperations'],
  ['has no other element than its operation', envelope(`${operation('a')}<x/>`), 'severalOperations'],
  ['has a known operation', call('getTrustedHostinfo', ''), 'unknownOperation'],
  ['has an operation of our namespace', envelope('<getTrustedHostInfo/>'), 'unknownOperation'],
  [
    'has an operation of no other namespace',
    envelope('<q:getTrustedHostInfo xmlns:q="urn:attauthority"/>'),
    'unknownOperation',
  ],
  [
    'has an operation, not a method of an object',
    envelope('<q:constructor xmlns:q="urn:attAuthority"/>'),
    'unknownOperation',
  ],
  ['may have an operation with an id', envelope(operation('academic', ' id="o1"')), ACADEMIC],
  [
    'may have its operation after referenced values',
    envelope(
      `<m id="i">x</m>${operation('academic', ' id="o" e:root="1" xmlns:e="http://schemas.xmlsoap.org/soap/encoding/"')}`,
    ),
    ACADEMIC,
  ],
];

const both = (parts: string): string => call('reqAuthorisation', parts);

const OF_PARTS: readonly MessageCase[] = [
  ['may be unqualified', both('<usrProxyCert>a</usrProxyCert><usrAttCert>b</usrAttCert>'), authorisation('a', 'b')],
  [
    'may be qualified',
    both('<q:usrProxyCert>a</q:usrProxyCert><q:usrAttCert>b</q:usrAttCert>'),
    authorisation('a', 'b'),
  ],
  ['may be in any order', both('<usrAttCert>b</usrAttCert><usrProxyCert>a</usrProxyCert>'), authorisation('a', 'b')],
  ['may be of any type', both('<usrProxyCert xmlns:x="u:1" x:type="x:int">a</usrProxyCert>'), authorisation('a', '')],
  ['may be absent', both(''), authorisation('', '')],
  [
    'may be absent from an operation without content',
    envelope('<q:reqAuthorisation xmlns:q="urn:attAuthority"/>'),
    authorisation('', ''),
  ],
  ['may be empty', both('<usrProxyCert/><usrAttCert></usrAttCert>'), authorisation('', '')],
  ['may be nil', roleCall('').replace('<usrRole>', `<usrRole ${NIL}="true">x`), hostInfo('')],
  ['may be explicitly not nil', roleCall('').replace('<usrRole>', `<usrRole ${NIL}="0">x`), hostInfo('x')],
  [
    'may be unknown, with any content',
    both('<more><usrProxyCert>a</usrProxyCert></more><usrAttCert>b</usrAttCert>'),
    authorisation('', 'b'),
  ],
  ['of another namespace are unknown', info('<usrRole xmlns="u:1">a</usrRole>'), hostInfo('')],
  ['keep white space', roleCall(' \n\t a  b '), hostInfo(' \n\t a  b ')],
  ['have line ends normalised as in XML', roleCall('a\r\nb\rc'), hostInfo('a\nb\nc')],
  ['may have CDATA', roleCall('a<![CDATA[<&>]]>b'), hostInfo('a<&>b')],
  ['may have comments', roleCall('a<!-- <x> & -->b'), hostInfo('ab')],
  ['may have references', roleCall('&lt;&amp;&#xD;&#xA;&#x1D11E;&apos;&quot;&gt;'), hostInfo('<&\r\n𝄞\'">')],
  ['are case-sensitive', info('<usrrole>a</usrrole>'), hostInfo('')],
  ['occur once', both('<usrAttCert>a</usrAttCert><usrAttCert/>'), 'repeatedPart'],
  ['occur once, qualified or not', both('<usrAttCert>a</usrAttCert><q:usrAttCert>a</q:usrAttCert>'), 'repeatedPart'],
  ['contain no elements', roleCall('a<b/>'), 'elementsInPart'],
];

const referring = (...values: readonly string[]): string =>
  envelope(
    `<q:getTrustedHostInfo xmlns:q="urn:attAuthority"><usrRole href="#i0"/></q:getTrustedHostInfo>${values.join('')}`,
  );
const link = (i: number): string => `<m id="i${i}" href="#i${i + 1}"/>`;

const OF_REFERENCES: readonly MessageCase[] = [
  ['are followed', referring('<m id="i0">academic</m>'), ACADEMIC],
  [
    'are followed into the Header',
    envelope(operation('x').replace('<usrRole>x</usrRole>', '<usrRole href="#h"/>'), {
      header: '<s:Header><h id="h">academic</h></s:Header>',
    }),
    ACADEMIC,
  ],
  ['are followed four steps', referring(link(0), link(1), link(2), '<m id="i3">academic</m>'), ACADEMIC],
  ['are followed to a nil value', referring(`<m id="i0" ${NIL}="1"/>`), hostInfo('')],
  [
    'are not followed five steps',
    referring(link(0), link(1), link(2), link(3), '<m id="i4">academic</m>'),
    'longReference',
  ],
  ['do not form a cycle', referring('<m id="i0" href="#i0"/>'), 'longReference'],
  ['point to an existing element', referring('<m id="i1">x</m>'), 'danglingReference'],
  [
    'point to an id, not to any attribute',
    referring('<m xmlns:w="u:1" w:id="i0" e:root="0" xmlns:e="http://schemas.xmlsoap.org/soap/encoding/">x</m>'),
    'danglingReference',
  ],
  ['point into the request', info('<usrRole href="http://127.0.0.1/#x"/>'), 'foreignReference'],
  ['point to one element', referring('<m id="i0">x</m><m id="i0">y</m>'), 'repeatedId'],
  ['point to text', referring('<m id="i0">x<y/></m>'), 'elementsInPart'],
  ['occur in empty elements', info('<usrRole href="#x">y</usrRole>'), 'contentBesideReference'],
];

/** All of them, by subject. */
export const MESSAGE_CASES: Readonly<Record<string, readonly MessageCase[]>> = {
  'accepts the message of a toolkit:': Object.entries(TOOLKIT_ENVELOPES).map(([name, text]) => [name, text, ACADEMIC]),
  'reads the encoding:': READ,
  'refuses bytes:': UNDECODABLE,
  'refuses invalid or excessive XML:': NO_XML,
  'reads the maximum:': LARGE,
  'the envelope': OF_ENVELOPE,
  'the Body': OF_BODY,
  parts: OF_PARTS,
  references: OF_REFERENCES,
};

function operation(role: string, attributes = ''): string {
  return `<q:getTrustedHostInfo xmlns:q="urn:attAuthority"${attributes}><usrRole>${role}</usrRole></q:getTrustedHostInfo>`;
}

function withHeader(entries: string): string {
  return envelope(operation('academic'), { header: `<s:Header>${entries}</s:Header>` });
}

function twoPrefixes(): string {
  return `<a:Envelope xmlns:a="${ENVELOPE}" xmlns:b="${ENVELOPE}"><b:Body>${operation('academic')}</b:Body></a:Envelope>`;
}
