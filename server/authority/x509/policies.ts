// Certificate policies along a path (RFC 5280, section 6.1, with the graph of RFC 9618 instead of the tree). The
// initial policy set is any-policy, with nothing required or inhibited, so only a CA of the path can cause a refusal
// (A76).
import { type Certificate, isSelfIssued, printSubject } from './certificate.ts';
import type { ComparisonBudget } from './nameConstraints.ts';

/** any-policy, which matches every policy (section 4.2.1.4). */
const ANY_POLICY = '2.5.29.32.0';

/**
 * One level of the graph: each valid policy with the policies of the next certificate that would continue it. The whole
 * graph would also give the user's resulting policies. For any-policy it is enough to know whether a level is empty.
 */
type Level = ReadonlyMap<string, ReadonlySet<string>>;

/** The state variables of section 6.1.2: how many more certificates until each rule applies. */
interface Counters {
  explicitPolicy: number;
  policyMapping: number;
  inhibitAnyPolicy: number;
}

const TOP: Level = new Map([[ANY_POLICY, new Set([ANY_POLICY])]]);
const EMPTY: Level = new Map();
const TOO_MANY = 'has more certificate policies than are looked at';
const NO_POLICY = 'is under none of the certificate policies that a CA above asks for';

/**
 * The problem with the policies of a path, as a sentence; undefined without one. The path goes from the certificate to
 * the configured CA, whose constraints count but not its policies (A76). Cost: linear in all policies and mappings.
 */
export function policyProblem(path: readonly Certificate[], budget: ComparisonBudget): string | undefined {
  const counters: Counters = { explicitPolicy: Infinity, policyMapping: Infinity, inhibitAnyPolicy: Infinity };
  let level = TOP;
  for (let i = path.length - 1; i >= 0; i--) {
    const certificate = path[i]!;
    const isAnchor = i === path.length - 1;
    budget.comparisons -= countPolicies(certificate) + level.size;
    if (budget.comparisons < 0) return problemAt(certificate, TOO_MANY);
    if (!isAnchor) level = nextLevel(level, certificate, takesAny(certificate, i, counters));
    if (counters.explicitPolicy === 0 && level.size === 0) return problemAt(certificate, NO_POLICY);
    if (i === 0) return isRemaining(certificate, level, counters) ? undefined : problemAt(certificate, NO_POLICY);
    const mapped = isAnchor ? level : mapLevel(level, certificate, counters.policyMapping > 0);
    if (mapped === undefined) return problemAt(certificate, 'maps the certificate policy that stands for all');
    level = mapped;
    count(counters, certificate, isAnchor);
  }
  return undefined;
}

function problemAt(certificate: Certificate, problem: string): string {
  return `The certificate of ${printSubject(certificate)} ${problem}.`;
}

function countPolicies({ extensions }: Certificate): number {
  return (extensions.policies?.length ?? 0) + (extensions.policyMappings?.length ?? 0);
}

/** Section 6.1.3 d 2: whether any-policy in this certificate counts. */
function takesAny(certificate: Certificate, i: number, { inhibitAnyPolicy }: Counters): boolean {
  return inhibitAnyPolicy > 0 || (i > 0 && isSelfIssued(certificate));
}

/** Section 6.1.3 d and e. */
function nextLevel(level: Level, { extensions: { policies = [] } }: Certificate, canTakeAny: boolean): Level {
  if (level.size === 0 || policies.length === 0) return EMPTY;
  const expected = new Set([...level.values()].flatMap((policiesOfNode) => [...policiesOfNode]));
  const next = new Map<string, ReadonlySet<string>>();
  const add = (policy: string): void => void next.set(policy, new Set([policy]));
  for (const policy of policies) {
    if (policy !== ANY_POLICY && (expected.has(policy) || level.has(ANY_POLICY))) add(policy);
  }
  if (canTakeAny && policies.includes(ANY_POLICY)) {
    for (const policy of expected) if (!next.has(policy)) add(policy);
  }
  return next;
}

/** Section 6.1.4 a and b; undefined if any-policy is mapped. */
function mapLevel(
  level: Level,
  { extensions: { policyMappings = [] } }: Certificate,
  mayMap: boolean,
): Level | undefined {
  if (policyMappings.some(({ issuer, subject }) => issuer === ANY_POLICY || subject === ANY_POLICY)) return undefined;
  const mapped = new Map(level);
  for (const [policy, mappings] of Map.groupBy(policyMappings, ({ issuer }) => issuer)) {
    if (!mayMap) mapped.delete(policy);
    else if (level.has(policy) || level.has(ANY_POLICY)) {
      mapped.set(policy, new Set(mappings.map(({ subject }) => subject)));
    }
  }
  return mapped;
}

/** Section 6.1.4 h to j: updates the counters below this CA. */
function count(counters: Counters, certificate: Certificate, isAnchor: boolean): void {
  const { policyConstraints, inhibitAnyPolicy = Infinity } = certificate.extensions;
  const step = isAnchor || isSelfIssued(certificate) ? 0 : 1;
  const lower = (before: number, limit = Infinity): number => Math.min(Math.max(0, before - step), limit);
  counters.explicitPolicy = lower(counters.explicitPolicy, policyConstraints?.requireExplicitPolicy);
  counters.policyMapping = lower(counters.policyMapping, policyConstraints?.inhibitPolicyMapping);
  counters.inhibitAnyPolicy = lower(counters.inhibitAnyPolicy, inhibitAnyPolicy);
}

/** Section 6.1.5 a, b and g: the certificate itself may also require a policy. */
function isRemaining({ extensions }: Certificate, level: Level, { explicitPolicy }: Counters): boolean {
  const isRequired = explicitPolicy <= 1 || extensions.policyConstraints?.requireExplicitPolicy === 0;
  return !isRequired || level.size > 0;
}
