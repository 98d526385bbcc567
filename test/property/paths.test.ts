// Path building compared with its slow reference: random meshes of CAs that share names and keys, some expired, some
// not CAs, some with path lengths. The reference tries every sequence of certificates. Both must agree on whether a
// path exists, and the path must be valid.
import { expect, test } from 'vitest';
import { makeTrustStore } from '../../server/authority/x509/search.ts';
import { validateChain } from '../../server/authority/x509/validate.ts';
import { AT, basicConstraints, keyUsage, type Made, make, nameDer, newKeys } from '../support/certificates.ts';
import { type Random, randomOf, RUN_SEED } from '../support/random.ts';
import { times } from '../support/ring.ts';

const MESHES = times(200, 4000);
const DAY = 86_400;
const KEYS = Array.from({ length: 4 }, newKeys);
const NAMES = ['A', 'B', 'C', 'D'];

/** A certificate as plain data for the reference. Names and keys are numbers. */
interface Node {
  readonly subject: number;
  readonly key: number;
  readonly issuer: number;
  readonly issuerKey: number;
  readonly isCa: boolean;
  readonly isExpired: boolean;
  readonly pathLength: number | undefined;
}

interface Mesh {
  readonly user: Node;
  readonly pool: readonly Node[];
  readonly anchors: readonly Node[];
  readonly maxDepth: number;
}

function drawNode(random: Random): Node {
  return {
    subject: random.integer(0, NAMES.length),
    key: random.integer(0, KEYS.length),
    issuer: random.integer(0, NAMES.length),
    issuerKey: random.integer(0, KEYS.length),
    isCa: random.chance(0.9),
    isExpired: random.chance(0.1),
    pathLength: random.chance(0.3) ? random.integer(0, 3) : undefined,
  };
}

function drawMesh(random: Random): Mesh {
  const user = { ...drawNode(random), subject: -1, isCa: false, isExpired: random.chance(0.05), pathLength: undefined };
  return {
    user,
    pool: random.several(0, 10, () => drawNode(random)),
    anchors: random.several(1, 3, () => drawNode(random)),
    maxDepth: random.integer(0, 5),
  };
}

/** Whether any sequence of certificates is a path (RFC 5280, section 6.1, as far as meshes go). */
function hasPath({ user, pool, anchors, maxDepth }: Mesh): boolean {
  const extend = (path: readonly Node[]): boolean => {
    const last = path.at(-1)!;
    const issued = (issuer: Node): boolean => issuer.subject === last.issuer && issuer.key === last.issuerKey;
    const isRepeated = (node: Node): boolean =>
      path.some(({ subject, key }) => subject === node.subject && key === node.key);
    return (
      anchors.some((anchor) => issued(anchor) && isPath([...path, anchor], maxDepth)) ||
      pool.some((node) => issued(node) && !isRepeated(node) && extend([...path, node]))
    );
  };
  return extend([user]);
}

function isPath(path: readonly Node[], maxDepth: number): boolean {
  const counted = (nodes: readonly Node[]): number => nodes.filter(({ subject, issuer }) => subject !== issuer).length;
  const isEvery = path.every(({ isExpired, isCa, pathLength }, i) => {
    const below = counted(path.slice(1, Math.max(1, i)));
    return !isExpired && (i === 0 || (isCa && below <= (pathLength ?? Infinity)));
  });
  return isEvery && counted(path.slice(1, -1)) <= maxDepth;
}

function made(node: Node): Made {
  const nameOf = (name: number): Uint8Array => nameDer([['CN', NAMES[name] ?? 'User']]);
  const issuer = { subject: nameOf(node.issuer), keys: KEYS[node.issuerKey]! };
  return make({
    subject: nameOf(node.subject),
    issuer,
    keys: KEYS[node.key]!,
    extensions: node.isCa ? [basicConstraints(true, node.pathLength), keyUsage(5)] : [],
    ...(node.isExpired && { notAfter: AT - DAY }),
  });
}

test(`finds a path exactly if one exists (seed ${RUN_SEED})`, () => {
  const random = randomOf(RUN_SEED);
  const found = { paths: 0, none: 0 };
  for (let i = 0; i < MESHES; i++) {
    const mesh = drawMesh(random);
    const certificates = [mesh.user, ...mesh.pool].map((node) => made(node).certificate);
    const anchors = mesh.anchors.map((node) => made(node).certificate);
    const verdict = validateChain(certificates, {
      trust: makeTrustStore(anchors),
      at: AT,
      proxies: { full: false, limited: false, legacy: false },
      clockSkewSeconds: 0,
      allowWeak: false,
      crls: undefined,
      maxDepth: mesh.maxDepth,
      profile: 'service',
    });
    expect(verdict.accepted, JSON.stringify(mesh)).toBe(hasPath(mesh));
    found[verdict.accepted ? 'paths' : 'none']++;
    if (!verdict.accepted) continue;
    expect(anchors).toContain(verdict.path.at(-1));
    for (const [below, issuer] of verdict.path.slice(0, -1).map((one, k) => [one, verdict.path[k + 1]!] as const)) {
      expect(below.issuer.key).toBe(issuer.subject.key);
    }
  }
  // Both outcomes are frequent enough for the comparison to mean something.
  expect(Math.min(found.paths, found.none)).toBeGreaterThan(MESHES / 50);
});
