// Hostile SOAP requests drawn from a seed: requests of toolkits with changed bytes or markup, and attacks by size. Many
// stay simple enough for the fast reader, where it might differ from the strict one.
import { call, ENVELOPE, envelope, roleCall, TOOLKIT_ENVELOPES } from './envelopes.ts';
import type { Random } from './random.ts';

const ENCODING = 'http://schemas.xmlsoap.org/soap/encoding/';
const XSI = 'http://www.w3.org/2001/XMLSchema-instance';

const SEEDS: readonly string[] = [
  ...Object.values(TOOLKIT_ENVELOPES),
  roleCall('a'),
  call('reqAuthorisation', '<usrProxyCert>a\nb</usrProxyCert><usrAttCert/>'),
  call('reqAuthorisation', '<q:usrAttCert>b</q:usrAttCert>\n <usrProxyCert\n></usrProxyCert>'),
  envelope('<getTrustedHostInfo xmlns="urn:attAuthority"><usrRole>r</usrRole></getTrustedHostInfo>'),
  `<Envelope xmlns="${ENVELOPE}"><Body><a:getTrustedHostInfo xmlns:a='urn:attAuthority'/></Body></Envelope>`,
];

/** Pieces that may occur anywhere, and are invalid in most places. */
const SNIPPETS: readonly string[] = [
  ...Array.from('<>/="\':&;\r\n\t \0\x7f\ufeff\x85é\u2028\ufffe'),
  '/>',
  '</',
  '&amp;',
  '&lt;',
  '&gt;',
  '&quot;',
  '&apos;',
  '&AMP;',
  '&amp',
  '&ampx;',
  '&#13;',
  '&#xD;',
  '&#0;',
  '&x;',
  '&#x110000;',
  '<![CDATA[',
  ']]>',
  '<!--',
  '-->',
  '<!-- x -->',
  '<!DOCTYPE a>',
  '<?x y?>',
  '<?xml version="1.0"?>',
  "<?xml version='1.0' encoding='UTF-8' standalone='yes'?>",
  '<?xml version="1.1"?>',
  '<x/>',
  '<x>',
  '</x>',
  '<s:Header/>',
  '<usrRole>',
  '</usrRole>',
  '<usrRole/>',
  '<q:usrRole>b</q:usrRole>',
  '</s:Body>',
  '</s:Envelope>',
  '<multiRef id="i">m</multiRef>',
  '<xmlns:a/>',
];

/** Attributes of a start tag. */
const ATTRIBUTES: readonly string[] = [
  ' id="i"',
  ' id="j"',
  ' href="#i"',
  ' href="#j"',
  ' href="x"',
  ` xmlns:xsi="${XSI}"`,
  ' xsi:nil="1"',
  ' xsi:nil="false"',
  ' xsi:type="xsd:string"',
  ' xsi:type="a" xsi:type="b"',
  ' type="x"',
  ' xmlns=""',
  ' xmlns="urn:attAuthority"',
  ` xmlns="${ENVELOPE}"`,
  ' xmlns:s="urn:attAuthority"',
  ` xmlns:q="${ENVELOPE}"`,
  ` xmlns:s='${ENVELOPE}'`,
  ' xmlns:q=" urn:attAuthority"',
  ' xmlns:q="urn:attAuthority "',
  ' xmlns:q="urn:attauthority"',
  ' xmlns:xml="http://www.w3.org/XML/1998/namespace"',
  ' xmlns:x="http://www.w3.org/XML/1998/namespace"',
  ' xmlns:xmlns="a"',
  ' xmlns:p=""',
  ' xmlns:x="http://www.w3.org/2000/xmlns/"',
  ' xmlns:XmLx="u:1"',
  ' xml:type="x"',
  ' xml:lang="en"',
  ' a:type="x"',
  ' s:encodingStyle="x"',
  ` s:encodingStyle="${ENCODING}"`,
  ' encodingStyle="x"',
  ' s:mustUnderstand="1"',
  ` e:root="0" xmlns:e="${ENCODING}"`,
  ` e:root="1" xmlns:e="${ENCODING}"`,
  ' a="1" a="2"',
  ' a = "1"',
  ' a="1"b="2"',
  ' xmlns:a="u:1" xmlns:b="u:1" a:type="1" b:type="1"',
  ' xmlns:a="u:1" xmlns:a="u:2"',
  ' xsi:type="&lt;"',
  ' xsi:type="a\nb"',
  ' xsi:type="<"',
  ' xsi:type=">"',
  ' :a="1"',
  ' a:="1"',
  ' a:b:c="1"',
  ' xmlns:',
  ' xmlns',
  ' 1:type="a"',
  ' xsi:1="a"',
  ' __proto__="a"',
  ' constructor="a"',
  ' xmlns:__proto__="u:1"',
  '\n',
  '\t',
  ' ',
];

/** A request of odd bytes, of at most a few kilobytes. */
export function hostileEnvelope(random: Random): Buffer {
  let text = random.pick(SEEDS);
  for (let n = random.integer(0, 4); n > 0; n--) text = changed(text, random);
  let bytes: Buffer = Buffer.from(text);
  if (random.chance(0.15)) bytes = withChangedByte(bytes, random);
  if (random.chance(0.05)) bytes = Buffer.from(`\ufeff${text}`, random.pick(['utf8', 'utf16le']));
  return bytes;
}

function changed(text: string, random: Random): string {
  const insert = (at: number, piece: string): string => text.slice(0, at) + piece + text.slice(at);
  const at = random.integer(0, text.length + 1);
  return random.pick<() => string>([
    () => insert(at, random.pick(SNIPPETS)),
    () => insert(edge(text, random, /<[A-Za-z:-]+/g), random.pick(ATTRIBUTES)),
    () => insert(edge(text, random, /<[A-Za-z:-]+/g), random.pick(ATTRIBUTES)),
    () => insert(edge(text, random, />/g), random.pick(SNIPPETS)),
    () => insert(edge(text, random, /[<>="/: ]/g), random.pick([' ', '\n', '\t', '\r\n', ''])),
    () => text.slice(0, at) + text.slice(at + random.integer(1, 12)),
    () => insert(at, text.slice(at, at + random.integer(1, 60))),
    () => renamed(text, random),
    () => random.pick(SEEDS),
  ])();
}

/** The end of one of the matches. */
function edge(text: string, random: Random, pattern: RegExp): number {
  const ends = [...text.matchAll(pattern)].map((match) => match.index + match[0].length);
  return ends.length === 0 ? 0 : random.pick(ends);
}

/** Changes one name, at one place or everywhere. */
function renamed(text: string, random: Random): string {
  const names = ['Envelope', 'Body', 'getTrustedHostInfo', 'reqAuthorisation', 'usrRole', 'usrProxyCert', 'usrAttCert'];
  const more = ['s', 'q', 'xsi', 'xmlns', 'xml', 'Header', 'a', 'type', 'encodingStyle', '_', 'é', 'A-b.c_1'];
  const from = random.pick([...names, 's:', 'q:', 'xsi:', 'xmlns:']);
  const to = random.pick([...names, ...more, 's:', 'q:', '']);
  return random.chance(0.5) ? text.replace(from, to) : text.replaceAll(from, to);
}

function withChangedByte(bytes: Buffer, random: Random): Buffer {
  const copy = Buffer.from(bytes);
  const at = random.integer(0, copy.length + 1);
  if (at < copy.length) copy[at] = random.integer(0, 256);
  return copy;
}

/** Large or deep requests of about `bytes` bytes, by the attack. */
export function floods(bytes: number): Readonly<Record<string, Buffer>> {
  const times = (piece: string, around = 0): string =>
    piece.repeat(Math.max(0, Math.floor((bytes - around) / piece.length)));
  const numbered = (make: (i: number) => string): string => {
    let text = '';
    for (let i = 0; text.length < bytes; i++) text += make(i);
    return text;
  };
  const declared = numbered((i) => `<!ENTITY e${i} "&e${Math.max(0, i - 1)};&e${Math.max(0, i - 1)};">`);
  const made: Record<string, string> = {
    'entities of entities': `<!DOCTYPE a [${declared}]>${roleCall('&e9;')}`,
    'an open document type': `<!DOCTYPE a [${times('<!ENTITY e "x">')}`,
    'depth without end': times('<a>'),
    'depth with namespaces': numbered((i) => `<a xmlns:p${i}="u:${i}">`),
    elements: call('getTrustedHostInfo', times('<u/>', 400)),
    'attributes of one element': call('getTrustedHostInfo', `<u ${numbered((i) => `a${i}="" `)}/>`),
    'namespaces of one element': call('getTrustedHostInfo', `<u ${numbered((i) => `xmlns:a${i}="u:1" `)}/>`),
    'a long namespace that many attributes share': longNamespace(bytes),
    'one attribute over and over': call('getTrustedHostInfo', `<u ${times('a="" ')}/>`),
    'a long attribute': call('getTrustedHostInfo', `<u a="${times('x', 400)}"/>`),
    'a long name': `<${times('a', 100)}/>`,
    'a long name with colons': `<${times('a:', 100)}/>`,
    'undefined entities': roleCall(times('&x;', 400)),
    ampersands: roleCall(times('&', 400)),
    'character references': roleCall(times('&#x41;', 400)),
    'comments in a part': roleCall(times('a<!---->', 400)),
    'CDATA in a part': roleCall(times('<![CDATA[]]>', 400)),
    'ends of CDATA': roleCall(times(']]>', 400)),
    'an open comment': `<!--${times('-', 4)}`,
    'an open CDATA section': `${roleCall('').slice(0, 150)}<![CDATA[${times(']', 400)}`,
    'processing instructions': times('<?x?>'),
    'line ends': roleCall(times('\r', 400)),
    blanks: times(' '),
    'blanks in a tag': `<a${times('\n')}/>`,
    'open brackets': times('<'),
    'closed brackets': roleCall('x') + times('>'),
    'end tags': roleCall('x') + times('</a>'),
    'references in a row': values(bytes, '<usrRole href="#i0"/>'),
    'values that both readers read, and take': values(bytes, '<usrRole>r</usrRole>'),
    'bytes that are no text': '\ud800'.repeat(bytes / 3),
  };
  return Object.fromEntries(Object.entries(made).map(([name, text]) => [name, Buffer.from(text).subarray(0, bytes)]));
}

/**
 * Strings of more than 16,383 characters collide in every set of V8. The name is half of the request, and all other
 * names share it.
 */
function longNamespace(bytes: number): string {
  const uri = 'u:'.padEnd(Math.min(bytes / 2, 16_384), 'x');
  const attributes = Array.from({ length: 60 }, (_, i) => `n:a${i}="" `).join('');
  const elements = `<u ${attributes}/>`.repeat(Math.max(1, Math.floor((bytes - uri.length - 400) / 700)));
  return call('getTrustedHostInfo', `<u xmlns:n="${uri}">${elements}</u>`);
}

/**
 * As many values as fit, each with a reference to the next. The fast reader reads them up to the comment at their end,
 * where the strict reader starts from scratch. `part` refers to one of them, or has a plain value: the request is then
 * valid, and the most expensive one of all.
 */
function values(bytes: number, part: string): string {
  const called = `<q:getTrustedHostInfo xmlns:q="urn:attAuthority">${part}</q:getTrustedHostInfo>`;
  const room = bytes - envelope(`${called}<!-- -->`).length;
  let written = '';
  for (let i = 0, next = ''; written.length + next.length <= room; i++) {
    written += next;
    next = `<m id="i${i}" href="#i${i + 1}"/>`;
  }
  return envelope(`${called}${written}<!-- -->`);
}
