// What one validation carries along: its rules, the certificates at hand, what it may still spend, and the best reason
// so far for a refusal. Made anew for each validation.
import { isSignedWith } from './algorithm.ts';
import type { Certificate } from './certificate.ts';
import type { CrlStore } from './crl.ts';
import type { PathRules } from './pathRules.ts';
import type { CertificatesByName, TrustStore } from './trust.ts';

/** What a search for a path is made by; ChainRules of validate.ts has the meanings. */
export interface SearchRules extends PathRules {
  readonly trust: TrustStore;
  readonly crls: CrlStore | undefined;
  readonly maxDepth: number;
}

/** How near to an accepted path a refusal was; the nearest one is what people want to hear. */
export const NEARNESS = { noIssuer: 0, unsigned: 1, exhausted: 2, judged: 3 } as const;

/**
 * A72: what one validation may spend. A signature takes up to 200 us, a step or a comparison at most a few; so a
 * validation ends within a fraction of a second whatever it is given. Chains in use need 10 signatures, 10 steps and
 * 100 comparisons.
 */
export const BUDGET = { signatures: 128, steps: 1024, comparisons: 262_144 } as const;

/** The state of one validation. */
export class PathSearch {
  readonly rules: SearchRules;
  /** The certificates of the text that are no configured CAs. */
  readonly pool: CertificatesByName;
  /** What is left of `BUDGET`. */
  readonly left: { signatures: number; steps: number; comparisons: number } = { ...BUDGET };
  /** Signers of CRLs that are being validated, so that none is asked to vouch for itself. */
  readonly signers = new Set<Certificate>();

  #reason = 'There is no certificate.';
  #nearness = -1;
  readonly #signatures = new Map<Certificate, Map<Certificate, boolean>>();

  constructor(rules: SearchRules, pool: CertificatesByName) {
    this.rules = rules;
    this.pool = pool;
  }

  /** The reason for the refusal. */
  get reason(): string {
    return this.#reason;
  }

  /**
   * Notes why something was refused; of equally near reasons the first stays, and what is wrong with the signer of a
   * CRL is none. Answers undefined: nothing was found.
   */
  refuse(nearness: keyof typeof NEARNESS, reason: string): undefined {
    if (NEARNESS[nearness] <= this.#nearness || this.signers.size > 0) return;
    this.#nearness = NEARNESS[nearness];
    this.#reason = reason;
  }

  /** Whether nothing is left of the steps or the signatures; the search then ends. */
  get isSpent(): boolean {
    return this.left.steps <= 0 || this.left.signatures <= 0;
  }

  /** Takes one step. Where nothing is left, answers false and notes that as the reason. */
  step(): boolean {
    if (this.isSpent) {
      this.refuse('exhausted', 'The certificates offer more paths than are tried.');
      return false;
    }
    this.left.steps--;
    return true;
  }

  /** Whether `issuer` signed `certificate`. Each pair is checked once, within the budget. */
  isSigned(certificate: Certificate, issuer: Certificate): boolean {
    let bySigner = this.#signatures.get(certificate);
    if (bySigner === undefined) this.#signatures.set(certificate, (bySigner = new Map()));
    const before = bySigner.get(issuer);
    if (before !== undefined) return before;
    if (this.isSpent) return false;
    this.left.signatures--;
    const isSigned = isSignedWith(certificate.signed, issuer.publicKey, issuer.keyStrength);
    bySigner.set(issuer, isSigned);
    return isSigned;
  }
}
