import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { messageTree } from '../../server/authority/soap/requests.ts';
import { hasLibrary } from '../support/debian.ts';
import { hostileEnvelope } from '../support/hostileEnvelopes.ts';
import { randomOf } from '../support/random.ts';

const SEED = 20_261_124;
const ROUNDS = 8000;
const EXPAT = fileURLToPath(new URL('./expat.py', import.meta.url));
/**
 * Known differences of expat: it accepts any version (we accept 1.x), reads names by the fourth edition of XML 1.0
 * instead of the fifth (beyond U+0250), and does not trim the names of namespaces.
 */
const KNOWN = [
  /^\ufeff?<\?xml version=(?!["']1\.[0-9]+["'])/,
  /[^\ufeff][^]*[\u0250-\uffff]/,
  /xmlns(:\w+)?=["'](\s|[^"']*\s["'])/,
];

/** Texts of hostile requests, without those that our reader refuses because of SOAP and not because of XML. */
function judgedTexts(): readonly { text: string; isWellFormed: boolean }[] {
  const random = randomOf(SEED);
  const judged: { text: string; isWellFormed: boolean }[] = [];
  for (let i = 0; i < ROUNDS; i++) {
    const text = hostileEnvelope(random).toString();
    const read = messageTree(text);
    if (KNOWN.some((pattern) => pattern.test(text)) || (typeof read === 'string' && read !== 'illFormed')) continue;
    judged.push({ text, isWellFormed: typeof read !== 'string' });
  }
  return judged;
}

test.skipIf(!hasLibrary('python3-zeep'))('agrees with expat on well-formed XML', () => {
  const judged = judgedTexts();
  const lines = judged.map(({ text }) => `${Buffer.from(text).toString('base64')}\n`).join('');
  const verdicts = execFileSync('/usr/bin/python3', [EXPAT], { input: lines, encoding: 'utf8' }).trim().split('\n');
  const different = judged.filter(({ isWellFormed }, i) => isWellFormed !== (verdicts[i] === '1'));
  expect(different, `seed ${SEED}`).toEqual([]);
  expect(judged.filter(({ isWellFormed }) => isWellFormed).length).toBeGreaterThan(ROUNDS / 10);
  expect(judged.filter(({ isWellFormed }) => !isWellFormed).length).toBeGreaterThan(ROUNDS / 10);
});
