// The fast reader of requests: one pass over the bytes of a plain envelope, or undefined where anything is unusual. It
// never says what is wrong: envelopeReader.ts then reads the same bytes. Where it answers, that one answers the same.
import { ascii } from './plainMarkup.ts';
import { type Call, OPERATIONS } from './protocol.ts';
import { TagScanner } from './tagScanner.ts';

// A plain envelope is ASCII without `<!`, carriage returns and other controls, has references to the five characters of
// XML in texts only and no others, at most an XML declaration that says UTF-8, no Header, one operation of ours and its
// parts, each once:
//
//   <P:Envelope A><P:Body A><Q:operation A><part A>text</part> ... </Q:operation></P:Body></P:Envelope>
//
// A stands for declarations of namespaces, at most one prefixed `type` and one prefixed `encodingStyle`; white space
// may stand between tags. P and Q are any prefixes, or none, that are bound to the right namespaces; parts are
// unqualified or Q.

const ENVELOPE = ascii('Envelope');
const BODY = ascii('Body');
const CALLABLE = OPERATIONS.map((operation) => ({
  operation,
  name: ascii(operation.name),
  parts: operation.parts.map(ascii),
}));

/** What a plain envelope says, or undefined where it is none. Cost: 2 us for a usual one, no string but the values. */
export function scanEnvelope(bytes: Uint8Array): Call | undefined {
  const scanner = new TagScanner(bytes);
  if (!scanner.declaration() || !scanner.startTag() || !scanner.isTag('envelope', ENVELOPE)) return undefined;
  const envelope = scanner.tagStart;
  if (!scanner.childTag() || !scanner.isTag('envelope', BODY)) return undefined;
  const body = scanner.tagStart;
  if (!scanner.childTag()) return undefined;
  const call = scanOperation(scanner);
  return call && scanner.endTag(body) && scanner.endTag(envelope) && scanner.isEnd() ? call : undefined;
}

/** The operation whose start tag was read last, up to its end. */
function scanOperation(scanner: TagScanner): Call | undefined {
  const callable = CALLABLE.find(({ name }) => scanner.isTag('service', name));
  if (callable === undefined) return undefined;
  const { operation, parts } = callable;
  const values = operation.parts.map(() => '');
  return scanner.isClosed || scanParts(scanner, parts, values) ? { operation, values } : undefined;
}

/** The parts, each at most once, and the end of their operation, whose start tag was read last. */
function scanParts(scanner: TagScanner, parts: readonly Uint8Array[], values: string[]): boolean {
  const start = scanner.tagStart;
  const scope = scanner.scope();
  for (let seen = 0; ;) {
    if (scanner.isEndNext()) return scanner.endTag(start);
    if (!scanner.startTag()) return false;
    const i = parts.findIndex((name) => scanner.isTag('none', name) || scanner.isTag('service', name));
    if (i < 0 || seen & (1 << i)) return false;
    seen |= 1 << i;
    const value = scanner.textElement(scope);
    if (value === undefined) return false;
    values[i] = value;
  }
}
