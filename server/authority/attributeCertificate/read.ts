// The structure of an attribute certificate: exactly the one form that this authority understands, as plain values.
// Checks no signature; verify.ts does. Whatever is not named here makes the whole text unreadable, so that there is
// nothing in a certificate beside what was read, and nothing that could be wrapped, moved or hidden.
import { canonicalText } from './canonical.ts';
import type { AttributeContent } from './content.ts';
import { contentOf } from './readContent.ts';
import { type ReadSignature, signatureOf } from './readSignature.ts';
import { childrenOf, isPlain, Misshapen } from './shape.ts';
import type { XmlElement } from '../../../data/xml/element.ts';
import { DOCUMENT_BYTES_MAX, readTree } from './tree.ts';

/** What a certificate holds, its signature not yet checked. */
export interface ReadCertificate {
  readonly content: AttributeContent;
  readonly signature: ReadSignature;
}

/** A certificate as read, or why it is none, as the end of a sentence that begins with `it`. */
export type CertificateReading =
  | { readonly kind: 'read'; readonly certificate: ReadCertificate }
  | { readonly kind: 'unreadable'; readonly reason: string };

/**
 * Reads an attribute certificate: the root `attributeCertificate` with exactly `acInfo` and `Signature`, in this order;
 * in `acInfo` exactly the elements of contentXml, without attributes and namespaces; in `Signature` one Reference to
 * the whole document, the two transforms, one X509Certificate. White space between elements and comments anywhere
 * change nothing (A81). The version must be 1.0. Cost: linear in the length of the text.
 */
export function readCertificate(text: string): CertificateReading {
  const tree = readTree(text);
  if (tree.kind === 'unreadable') return tree;
  try {
    return { kind: 'read', certificate: certificateOf(tree.root) };
  } catch (error) {
    if (error instanceof Misshapen) return { kind: 'unreadable', reason: error.message };
    throw error;
  }
}

/** A file may have so many blanks around. */
const FILE_BYTES_MAX = 4 * DOCUMENT_BYTES_MAX;

/**
 * The text of a file that holds one, as editors and downloads leave it: without byte order mark and blanks around. Of a
 * longer file its beginning, which is too long to be one whatever follows.
 */
export function textOfFile(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.subarray(0, FILE_BYTES_MAX))
    .toString('utf8')
    .replace(/^\uFEFF/, '');
  return bytes.length > FILE_BYTES_MAX ? text : text.trim();
}

function certificateOf(root: XmlElement): ReadCertificate {
  isPlain(root, 'attributeCertificate');
  const [acInfo, signature] = childrenOf(root, ['acInfo', 'Signature']);
  const content = contentOf(acInfo!);
  const withoutSignature = { ...root, children: root.children.filter((child) => child !== signature) };
  return { content, signature: signatureOf(signature!, canonicalText(withoutSignature)) };
}
