// What an S3 server says in XML: errors, lists of objects and of unfinished uploads. Pure: text in, values out, nothing
// of it believed; who reads an answer bounds its bytes before.
import { childElements, ownText, type XmlElement } from '../../xml/element.ts';
import { readXml } from '../../xml/reader.ts';

/** No answer is longer: a list has 1,000 entries of at most some hundred bytes. */
export const ANSWER_BYTES_MAX = 1 << 22;
/** A list of 1,000 entries has some ten elements each. */
const LIMITS = { depth: 16, elements: 50_000, attributes: 16, instructions: 16 } as const;

/** ElementTexts by the names of their elements; of several of one name, the last. */
export type ElementTexts = Readonly<Record<string, string | undefined>>;

/** An answer: the name of its root, the texts right in it, and those of each of its elements that hold others. */
export interface S3Answer {
  readonly root: string;
  readonly texts: ElementTexts;
  entries(name: string): readonly ElementTexts[];
}

/** Reads an answer; undefined for what is none. Cost: that of `readXml`. */
export function readS3Answer(text: string): S3Answer | undefined {
  const reading = readXml(text, LIMITS);
  if (reading.kind === 'refused') return undefined;
  const { root } = reading;
  const entries = childElements(root).filter((entry) => childElements(entry).length > 0);
  const named = (name: string): readonly ElementTexts[] => entries.filter((one) => one.name === name).map(textsIn);
  return { root: root.name, texts: textsIn(root), entries: named };
}

function textsIn(element: XmlElement): ElementTexts {
  const texts = Object.create(null) as Record<string, string>;
  for (const child of childElements(element)) texts[child.name] = ownText(child);
  return texts;
}
