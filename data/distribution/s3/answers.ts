// What an S3 server says in XML: errors, lists of objects and of unfinished uploads. Pure: text in, values out, nothing
// of it believed; who reads an answer bounds its bytes before.
import { SaxesParser } from 'saxes';

/** No answer is longer: a list has 1,000 entries of at most some hundred bytes. */
export const ANSWER_BYTES_MAX = 1 << 22;
/** A list of 1,000 entries has some ten elements each. */
const ELEMENTS_MAX = 50_000;
const DEPTH_MAX = 16;

/** ElementTexts by the names of their elements; of several of one name, the last. */
export type ElementTexts = Readonly<Record<string, string | undefined>>;

/** An answer: the name of its root, the texts right in it, and those of each of its elements that hold others. */
export interface S3Answer {
  readonly root: string;
  readonly texts: ElementTexts;
  entries(name: string): readonly ElementTexts[];
}

/** Thrown out of an event to stop the parser; never leaves this file. */
class Refused extends Error {}

/** Reads an answer; undefined for what is none. Cost: about 20 ns a character. */
export function readS3Answer(text: string): S3Answer | undefined {
  const parser = new SaxesParser({ xmlns: false });
  const open: { readonly name: string; readonly texts: Record<string, string>; own: string }[] = [];
  const entries: { readonly name: string; readonly texts: ElementTexts }[] = [];
  let root: { readonly name: string; readonly texts: ElementTexts } | undefined;
  let elements = 0;
  parser.on('error', refuse);
  parser.on('doctype', refuse);
  parser.on('opentag', ({ name }) => {
    if (++elements > ELEMENTS_MAX || open.length >= DEPTH_MAX) refuse();
    open.push({ name, texts: Object.create(null) as Record<string, string>, own: '' });
    root ??= open[0];
  });
  const addText = (piece: string): void => {
    const last = open.at(-1);
    if (last) last.own += piece;
  };
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('closetag', () => {
    const { name, texts, own } = open.pop()!;
    const parent = open.at(-1);
    if (open.length === 1 && Object.keys(texts).length > 0) entries.push({ name, texts });
    if (parent) parent.texts[name] = own;
  });
  try {
    parser.write(text).close();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return undefined;
  }
  const named = (name: string): readonly ElementTexts[] =>
    entries.filter((one) => one.name === name).map((one) => one.texts);
  return root && { root: root.name, texts: root.texts, entries: named };
}

function refuse(): never {
  throw new Refused();
}
