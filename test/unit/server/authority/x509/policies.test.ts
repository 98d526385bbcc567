// Certificate policies (RFC 5280, section 6.1): random paths compared with the RFC's policy tree, which is implemented
// literally.
import { describe, expect, test } from 'vitest';
import { type Certificate, isSelfIssued, parseCertificate } from '../../../../../server/authority/x509/certificate.ts';
import { NO_EXTENSIONS } from '../../../../../server/authority/x509/extensions.ts';
import { policyProblem } from '../../../../../server/authority/x509/policies.ts';
import {
  caExtensions,
  extension,
  makeCa,
  makeUser,
  implicit,
  integer,
  oid,
  sequence,
  utf8,
} from '../../../../support/certificates.ts';
import { type Random, randomOf } from '../../../../support/random.ts';

const ANY = '2.5.29.32.0';
const [A, B, C] = ['1.2.1', '1.2.2', '1.2.3'] as const;
const ROOT = makeCa('Root').certificate;
const OTHER = makeCa('Other', { issuer: makeCa('Root') }).certificate;

/** The policy extensions of a certificate. `self`: its issuer is its subject. */
interface Says {
  readonly policies?: readonly string[];
  readonly map?: readonly (readonly [issuer: string, subject: string])[];
  readonly require?: number;
  readonly noMapping?: number;
  readonly noAny?: number;
  readonly self?: boolean;
}

function certificateOf({ policies, map, require, noMapping, noAny, self = false }: Says): Certificate {
  const hasConstraints = require !== undefined || noMapping !== undefined;
  const extensions = {
    ...NO_EXTENSIONS,
    policies,
    policyMappings: map?.map(([issuer, subject]) => ({ issuer, subject })),
    policyConstraints: hasConstraints ? { requireExplicitPolicy: require, inhibitPolicyMapping: noMapping } : undefined,
    inhibitAnyPolicy: noAny,
  };
  return { ...(self ? ROOT : OTHER), extensions };
}

/** Whether a path is accepted; the configured CA comes first, as in PKITS. */
function isAccepted(says: readonly Says[], comparisons = 10_000): boolean {
  const path = [ROOT, ...says.map(certificateOf)].toReversed();
  return policyProblem(path, { comparisons }) === undefined;
}

describe('a path with policies', () => {
  test('must have the policy that its configured CA requires', () => {
    const path = (says: Says): readonly Certificate[] => [
      certificateOf(says),
      certificateOf({ policies: [B], require: 0, self: true }),
    ];
    expect(policyProblem(path({ policies: [A] }), { comparisons: 100 })).toBeUndefined();
    expect(policyProblem(path({}), { comparisons: 100 })).toMatch(
      /^The certificate of .* is under none of the certificate policies that a CA above asks for\.$/,
    );
  });

  test('is refused with more policies than are compared', () => {
    const many = Array.from({ length: 300 }, (_, i) => `1.2.3.${i}`);
    expect(isAccepted([{ policies: many }, { policies: many }], 500)).toBe(false);
    expect(isAccepted([{ policies: many }, { policies: many }], 1000)).toBe(true);
  });
});

describe('the policy extensions', () => {
  const read = (id: string, value: Buffer): Certificate['extensions'] =>
    parseCertificate(makeUser('Ada', makeCa('CA'), { extensions: [extension(id, value)] }).der).extensions;
  const policy = (id: string, ...qualifiers: readonly Buffer[]): Buffer => sequence(oid(id), ...qualifiers);

  test('are read, whatever their qualifiers', () => {
    const qualifier = sequence(sequence(oid('1.3.6.1.5.5.7.2.2'), sequence(utf8('for people'))));
    expect(read('2.5.29.32', sequence(policy(A, qualifier), policy(B))).policies).toEqual([A, B]);
    expect(read('2.5.29.33', sequence(sequence(oid(A), oid(B)))).policyMappings).toEqual([{ issuer: A, subject: B }]);
    const count = (n: number, value: number): Buffer => implicit(n, integer(value).subarray(2));
    expect(read('2.5.29.36', sequence(count(0, 0), count(1, 2))).policyConstraints).toEqual({
      requireExplicitPolicy: 0,
      inhibitPolicyMapping: 2,
    });
    expect(read('2.5.29.54', integer(3)).inhibitAnyPolicy).toBe(3);
  });

  test.each([
    ['no policy', '2.5.29.32', sequence()],
    ['a policy twice', '2.5.29.32', sequence(policy(A), policy(A))],
    ['bytes after the qualifiers', '2.5.29.32', sequence(sequence(oid(A), sequence(), sequence()))],
    ['no mapping', '2.5.29.33', sequence()],
    ['half a mapping', '2.5.29.33', sequence(sequence(oid(A)))],
    ['no constraint', '2.5.29.36', sequence()],
    ['a negative number', '2.5.29.54', integer(-1)],
  ])('with %s are refused', (_, id, value) => {
    expect(() => read(id, value)).toThrow();
  });

  test('decide in a chain: one that requires a policy, and a user with or without it', () => {
    const policies = extension('2.5.29.32', sequence(policy(A)));
    const required = extension('2.5.29.36', sequence(implicit(0, Buffer.of(0))), true);
    const ca = makeCa('CA', { extensions: [...caExtensions(), required] });
    const judged = (...extensions: readonly Buffer[]): string | undefined =>
      policyProblem([makeUser('Ada', ca, { extensions }).certificate, ca.certificate], { comparisons: 100 });
    expect(judged(policies)).toBeUndefined();
    expect(judged()).toContain('/CN=Ada is under none of');
  });
});

/** A node of the policy tree of RFC 5280, section 6.1.2 a. */
interface TreeNode {
  readonly policy: string;
  expected: readonly string[];
  readonly children: TreeNode[];
}

/** A literal implementation of section 6.1 with a tree, slow and obvious. The configured CA has no policies here. */
function isAcceptedByTree(says: readonly Says[]): boolean {
  let root: TreeNode | undefined = { policy: ANY, expected: [ANY], children: [] };
  let [explicit, mapping, inhibitAny] = [says.length + 1, says.length + 1, says.length + 1];
  for (const [index, { policies, map = [], require, noMapping, noAny, self = false }] of says.entries()) {
    const isLast = index === says.length - 1;
    if (policies && root) {
      const parents = nodesAt(root, index);
      for (const policy of policies.filter((one) => one !== ANY)) {
        const matching = parents.filter(({ expected }) => expected.includes(policy));
        const under = matching.length > 0 ? matching : parents.filter((node) => node.policy === ANY);
        for (const parent of under) parent.children.push({ policy, expected: [policy], children: [] });
      }
      if (policies.includes(ANY) && (inhibitAny > 0 || (!isLast && self))) {
        for (const parent of parents) {
          const missing = parent.expected.filter((one) => !parent.children.some(({ policy }) => policy === one));
          for (const policy of missing) parent.children.push({ policy, expected: [policy], children: [] });
        }
      }
      root = pruned(root, index + 1);
    } else root = undefined;
    if (explicit === 0 && !root) return false;
    if (isLast) {
      if (explicit > 0) explicit--;
      if (require === 0) explicit = 0;
      return explicit > 0 || root !== undefined;
    }
    if (map.some((pair) => pair.includes(ANY))) return false;
    for (const from of new Set(map.map(([issuer]) => issuer))) {
      if (!root) break;
      const to = map.filter(([issuer]) => issuer === from).map(([, subject]) => subject);
      const nodes = nodesAt(root, index + 1);
      const matching = nodes.filter(({ policy }) => policy === from);
      if (mapping > 0) {
        for (const node of matching) node.expected = to;
        const hasAny = nodes.some(({ policy }) => policy === ANY);
        const above = nodesAt(root, index).find(({ policy }) => policy === ANY);
        if (matching.length === 0 && hasAny) above!.children.push({ policy: from, expected: to, children: [] });
      } else {
        for (const parent of nodesAt(root, index)) {
          const kept = parent.children.filter(({ policy }) => policy !== from);
          parent.children.splice(0, Infinity, ...kept);
        }
        root = pruned(root, index + 1);
      }
    }
    if (!self)
      [explicit, mapping, inhibitAny] = [explicit, mapping, inhibitAny].map((n) => Math.max(0, n - 1)) as [
        number,
        number,
        number,
      ];
    explicit = Math.min(explicit, require ?? Infinity);
    mapping = Math.min(mapping, noMapping ?? Infinity);
    inhibitAny = Math.min(inhibitAny, noAny ?? Infinity);
  }
  return true;
}

function nodesAt(root: TreeNode, depth: number): readonly TreeNode[] {
  return depth === 0 ? [root] : root.children.flatMap((child) => nodesAt(child, depth - 1));
}

/** The tree without branches that end above `depth`; undefined if nothing remains. */
function pruned(root: TreeNode, depth: number): TreeNode | undefined {
  if (depth === 0) return root;
  const kept = root.children.filter((child) => pruned(child, depth - 1) !== undefined);
  root.children.splice(0, Infinity, ...kept);
  return kept.length > 0 ? root : undefined;
}

const SEED = 20_261_122;

function randomSays(random: Random): Says {
  const some = (choices: readonly string[]): readonly string[] => choices.filter(() => random.chance(0.5));
  const policies = some([A, B, C, ...(random.chance(0.3) ? [ANY] : [])]);
  const names = random.chance(0.02) ? [A, B, C, ANY] : [A, B, C];
  const count = (probability: number): number | undefined =>
    random.chance(probability) ? random.integer(0, 3) : undefined;
  const [require, noMapping, noAny] = [count(0.3), count(0.15), count(0.2)];
  return {
    ...(policies.length > 0 ? { policies } : {}),
    ...(random.chance(0.4)
      ? { map: random.several(1, 4, () => [random.pick(names), random.pick(names)] as const) }
      : {}),
    ...(require === undefined ? {} : { require }),
    ...(noMapping === undefined ? {} : { noMapping }),
    ...(noAny === undefined ? {} : { noAny }),
    self: random.chance(0.2),
  };
}

test(`decides random paths as the policy tree does (seed ${SEED})`, () => {
  const random = randomOf(SEED);
  const verdicts = new Map([
    [true, 0],
    [false, 0],
  ]);
  for (let round = 0; round < 20_000; round++) {
    const says = random.several(1, 6, () => randomSays(random));
    const verdict = isAcceptedByTree(says);
    expect(isAccepted(says), `seed ${SEED}, round ${round}: ${JSON.stringify(says)}`).toBe(verdict);
    verdicts.set(verdict, verdicts.get(verdict)! + 1);
  }
  expect(isSelfIssued(certificateOf({ self: true })) && !isSelfIssued(certificateOf({}))).toBe(true);
  for (const count of verdicts.values()) expect(count).toBeGreaterThan(4000);
});
