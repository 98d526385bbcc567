// What the Content-Type of a request says: whether it may be SOAP 1.1, and in which charset.
// Pure; reads a header as RFC 9110, 8.3 has it.

const MEDIA_TYPE = /^\s*text\/xml\s*(?=;|$)/i;
const PARAMETER = /;\s*(?:([^\s=;"]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*)))?\s*/y;

/**
 * The charset of a request whose type is text/xml, undefined where it names none, and where there is no header at all;
 * `unsupported` for every other type. Of two charsets the first counts; what is no parameter is not looked at.
 */
export function charsetOf(contentType: string | undefined): { charset: string | undefined } | 'unsupported' {
  if (contentType === undefined) return { charset: undefined };
  const type = MEDIA_TYPE.exec(contentType);
  if (type === null) return 'unsupported';
  PARAMETER.lastIndex = type[0].length;
  for (let found = PARAMETER.exec(contentType); found !== null; found = PARAMETER.exec(contentType)) {
    const [, name, quoted, token] = found;
    if (name?.toLowerCase() === 'charset') return { charset: quoted?.replace(/\\(.)/g, '$1') ?? token };
  }
  return { charset: undefined };
}
