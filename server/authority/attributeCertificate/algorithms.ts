// The algorithms of XML signatures that this authority writes or accepts, each by its identifier. Nothing else is
// looked up. Constants and one table.

/** The namespace of XML signatures (XML Signature Syntax and Processing, section 1.3). */
export const SIGNATURE_NAMESPACE = 'http://www.w3.org/2000/09/xmldsig#';
/** The transform that takes the signature out of what it signs. */
export const ENVELOPED_SIGNATURE = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';
/** Exclusive canonicalisation without comments. */
export const EXCLUSIVE_C14N = 'http://www.w3.org/2001/10/xml-exc-c14n#';
/** Canonical XML 1.0 without comments: the same bytes as the exclusive one in the form that is accepted here. */
export const INCLUSIVE_C14N = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315';

/** A signature algorithm that a configuration may accept. */
export type SignatureAlgorithm = 'rsa-sha256' | 'ecdsa-sha256' | 'rsa-sha1';

/**
 * What a signature algorithm is. `keyType` is the only type of key it is used with; `digest` is of the document too.
 */
export interface AlgorithmRow {
  readonly name: SignatureAlgorithm;
  readonly uri: string;
  readonly keyType: 'rsa' | 'ec';
  readonly digest: 'sha256' | 'sha1';
}

/** All of them. */
export const SIGNATURE_ALGORITHMS: readonly AlgorithmRow[] = [
  {
    name: 'rsa-sha256',
    uri: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
    keyType: 'rsa',
    digest: 'sha256',
  },
  {
    name: 'ecdsa-sha256',
    uri: 'http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256',
    keyType: 'ec',
    digest: 'sha256',
  },
  { name: 'rsa-sha1', uri: 'http://www.w3.org/2000/09/xmldsig#rsa-sha1', keyType: 'rsa', digest: 'sha1' },
];

/** The identifiers of digests. */
export const DIGEST_URIS: Readonly<Record<AlgorithmRow['digest'], string>> = {
  sha256: 'http://www.w3.org/2001/04/xmlenc#sha256',
  sha1: 'http://www.w3.org/2000/09/xmldsig#sha1',
};
