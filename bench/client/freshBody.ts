// A body of a request whose credentials are new each time: a template, and what is put into it.
// Used on both sides of the load client: callCheck.ts writes templates, the client's process fills them.
import { markupEscaped } from './markup.ts';
import {
  type Credentials,
  FreshCredentials,
  type CredentialFreshness,
  type Issuers,
  type Who,
} from '../authority/freshCredentials.ts';

/** What stands in a template where the texts of credentials are to be; in no text of one. */
export const MARKS: Credentials = { chain: '@chain@', attributeCertificate: '@attributeCertificate@' };

/** What a template is filled with. */
export interface FreshTexts {
  readonly issuers: Issuers;
  readonly who: Who;
  readonly freshness: CredentialFreshness;
}

/** Fills a template, with other texts each time it is called. */
export function bodiesOf(template: string, { issuers, who, freshness }: FreshTexts): () => string {
  const source = new FreshCredentials(issuers);
  return () => {
    const { chain, attributeCertificate } = source.next(who, freshness);
    const body = template.replace(MARKS.chain, () => markupEscaped(chain));
    return body.replace(MARKS.attributeCertificate, () => markupEscaped(attributeCertificate));
  };
}
