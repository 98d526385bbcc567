// An attribute authority that is a data structure: a map of roles and a function that shows what it was asked.
// Real enough for whoever speaks the protocol; no certificates, no keys, no threads.
import type { Authorisation, Authority } from '../../server/authority/authority.ts';

/** Lists of every kind: several hosts, one, none; a role like a JavaScript member; texts that must be escaped. */
export const TRUSTED_HOSTS: ReadonlyMap<string, readonly string[]> = new Map([
  [
    'academic',
    ['Site A:https://a.example.org/attAuthority.wsdl:reader, writer', 'Site B:http://b.example.org:8080/aa:staff'],
  ],
  ['one', ['Site A:https://a.example.org/attAuthority.wsdl:reader']],
  ['none', []],
  ['__proto__', ['Site P:http://p.example.org/:proto']],
  ['Ångström 日本', ['Ørsted:http://o.example.org/:å, 日']],
  ['Ångström 日本 𝄞', ['Zürich & Söhne <a>:http://z.example.org/?a=1&b=2:größe, "x" \'y\'']],
  ['many', Array.from({ length: 2000 }, (_, i) => `Site ${i}:http://site${i}.example.org/attAuthority.wsdl:role${i}`)],
]);

/** What it makes of `break` as one of the texts: a bug of ours. */
export const SECRET = 'secret /srv/replica/key.pem';

/** The authority. It grants what has a certificate block and an attribute certificate, and shows both in the answer. */
export function memoryAuthority(trustedHosts = TRUSTED_HOSTS): Authority {
  return {
    trustedHosts,
    authorise: ({ usrProxyCert, usrAttCert }) => {
      if (usrProxyCert === 'break' || usrAttCert === 'break') throw new Error(SECRET);
      if (!usrProxyCert.includes('-----BEGIN CERTIFICATE-----')) {
        return refused('AccessError', 'usrProxyCert holds no certificate: “é” & <x>.');
      }
      if (usrAttCert === '') return refused('AccessDenied', 'The user is not registered here.');
      return { attCert: granted(usrProxyCert, usrAttCert), statCode: 'AccessGranted', errMsg: '' };
    },
  };
}

/** What it answers where it grants: the texts as it read them, within markup. */
export function granted(usrProxyCert: string, usrAttCert: string): string {
  return `<attributeCertificate><acInfo>${usrProxyCert}|${usrAttCert}</acInfo></attributeCertificate>`;
}

function refused(statCode: Authorisation['statCode'], errMsg: string): Authorisation {
  return { attCert: '', statCode, errMsg };
}
