// The extensions about certificate policies (RFC 5280, sections 4.2.1.4, 4.2.1.5, 4.2.1.11 and 4.2.1.14), read into
// plain values. Judges nothing: policies.ts does.
import { context, DerError, type DerReader, TAG } from './der.ts';

/** policyConstraints: after how many more certificates something begins to count; undefined for never. */
export interface PolicyConstraints {
  readonly requireExplicitPolicy: number | undefined;
  readonly inhibitPolicyMapping: number | undefined;
}

/** A policy of the issuer's that the subject's stands for. */
export interface PolicyMapping {
  readonly issuer: string;
  readonly subject: string;
}

/** Reads certificatePolicies: the policies, each once; their qualifiers, which are for people, are passed over. */
export function readPolicies(reader: DerReader): readonly string[] {
  const policies = reader.inside(TAG.sequence).each((list) => {
    const parts = list.inside(TAG.sequence);
    const policy = parts.oid();
    parts.optional(TAG.sequence);
    parts.finish();
    return policy;
  });
  if (policies.length === 0) throw new DerError('no certificate policy');
  if (new Set(policies).size < policies.length) throw new DerError('a certificate policy twice');
  return policies;
}

/** Reads policyMappings. */
export function readPolicyMappings(reader: DerReader): readonly PolicyMapping[] {
  const mappings = reader.inside(TAG.sequence).each((list) => {
    const parts = list.inside(TAG.sequence);
    const mapping = { issuer: parts.oid(), subject: parts.oid() };
    parts.finish();
    return mapping;
  });
  if (mappings.length === 0) throw new DerError('no policy mapping');
  return mappings;
}

/** Reads policyConstraints; one at least must be there. */
export function readPolicyConstraints(reader: DerReader): PolicyConstraints {
  const parts = reader.inside(TAG.sequence);
  const countOf = (number: number): number | undefined => {
    const tag = context(number, 'primitive');
    return parts.nextTag === tag ? parts.count(tag) : undefined;
  };
  const [requireExplicitPolicy, inhibitPolicyMapping] = [countOf(0), countOf(1)];
  parts.finish();
  if (requireExplicitPolicy === undefined && inhibitPolicyMapping === undefined) {
    throw new DerError('policy constraints that say nothing');
  }
  return { requireExplicitPolicy, inhibitPolicyMapping };
}
