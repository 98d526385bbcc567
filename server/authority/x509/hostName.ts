// The syntax of what alternative names hold (RFC 5280, section 4.2.1.6): host names, mail addresses, hosts of URIs.
// Text only; nothing is resolved.
import type { GeneralName } from './generalName.ts';

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
const HOST_CHARACTERS_MAX = 253;
const NUMBER = /^\d+$/;

/** Whether a text is a host name of letters, digits and hyphens (RFC 1123, section 2.1), and no IPv4 address. */
export function isHostName(text: string): boolean {
  if (text.length > HOST_CHARACTERS_MAX) return false;
  const labels = text.split('.');
  return labels.every((label) => LABEL.test(label)) && !NUMBER.test(labels.at(-1)!);
}

/** Whether a text is a host name, or one with `*` as its whole first label. */
function isHostPattern(text: string): boolean {
  return isHostName(text.startsWith('*.') ? text.slice(2) : text);
}

/** A mail address in its two parts; undefined where it is none. */
export function mailParts(text: string): { readonly local: string; readonly host: string } | undefined {
  const at = text.lastIndexOf('@');
  const [local, host] = [text.slice(0, at), text.slice(at + 1)];
  if (at <= 0 || !/^[\x21-\x7e]+$/.test(local) || local.includes('@') || !isHostName(host)) return undefined;
  return { local, host };
}

const URI_HOST = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)?([^/?#:@]+)(?::\d*)?(?:[/?#]|$)/i;

/** The host of a URI; undefined where it has none that is a host name (RFC 5280, section 4.2.1.10 then refuses it). */
export function uriHost(text: string): string | undefined {
  const host = URI_HOST.exec(text)?.[1];
  return host !== undefined && isHostName(host) ? host : undefined;
}

/** Whether a name has the syntax of its form; forms without one are right. URIs only need a scheme. */
export function isWellFormed(name: GeneralName): boolean {
  switch (name.form) {
    case 'dns':
      return isHostPattern(name.text);
    case 'email':
      return mailParts(name.text) !== undefined;
    case 'uri':
      return /^[a-z][a-z0-9+.-]*:./i.test(name.text);
    case 'ip':
      return name.bytes.length === 4 || name.bytes.length === 16;
    default:
      return true;
  }
}
