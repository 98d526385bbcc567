// What the Content-Type of a request says: whether it may be SOAP 1.1, and in which charset.
// Pure; reads a header as RFC 9110, 8.3 has it.

/** A charset, or the word for every type that is not SOAP 1.1. */
type Charset = { readonly charset: string | undefined } | 'unsupported';

const NO_CHARSET: Charset = { charset: undefined };

const MEDIA_TYPE = /^\s*text\/xml\s*(?=;|$)/i;
const PARAMETER = /;\s*(?:([^\s=;"]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*)))?\s*/y;

/**
 * The charset of a request whose type is text/xml, undefined where it names none, and where there is no header at all;
 * `unsupported` for every other type. Of two charsets the first counts; what is no parameter is not looked at. Cost:
 * the length of the header.
 */
export function charsetOf(contentType: string | undefined): Charset {
  if (contentType === undefined) return NO_CHARSET;
  const type = MEDIA_TYPE.exec(contentType);
  if (type === null) return 'unsupported';
  PARAMETER.lastIndex = type[0].length;
  for (let match = PARAMETER.exec(contentType); match !== null; match = PARAMETER.exec(contentType)) {
    const [, name, quoted, token] = match;
    if (name?.toLowerCase() === 'charset') return { charset: quoted?.replace(/\\(.)/g, '$1') ?? token };
  }
  return NO_CHARSET;
}
