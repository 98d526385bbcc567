// The public suites of path validation, PKITS of NIST and x509-limbo of C2SP: every case in this process, some through
// the command line. suites.long.test.ts runs more of them through the command line.
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../support/dataSets.ts';
import { hasPathSuites, PATH_SUITES, pathCases } from '../../support/testdata.ts';
import { judge, judgeByCommand } from './judge.ts';

/** The limit promised to operators; cases take a hundredth of it. */
const CPU_MS_MAX = 250;

/**
 * Cases outside the tier `must` in which the validator differs from the suite, each with the reason. A listed case in
 * which the validator agrees with the suite is a failure too.
 */
const OTHERWISE: Readonly<Record<string, string>> = {
  'limbo::rfc5280::aki::cross-signed-root-missing-aki':
    'nobody looks for the issuer of a configured CA; cve-2024-0567 wants it accepted',
  'limbo::rfc5280::eku::ee-wrong-eku': 'there is no purpose to compare with',
  'limbo::rfc5280::ca-as-leaf-wrong-san': 'there is no peer name to compare with',
  'limbo::webpki::ca-as-leaf': 'limbo rfc5280::ca-as-leaf wants the same chain accepted',
};

describe.skipIf(!hasPathSuites()).each(PATH_SUITES)('the suite %s', (suite) => {
  const cases = pathCases(suite);

  test.each(cases)('$tier $id: expects $expect', (one) => {
    const { verdict, reason, cpuMs } = judge(one);
    const isOtherwise = Object.hasOwn(OTHERWISE, one.id);
    expect(isOtherwise && one.tier === 'must', 'no exception in the tier must').toBe(false);
    expect(verdict === one.expect, reason || 'accepted').toBe(!isOtherwise);
    expect(reason === '' || /^[A-Z].*\.$/.test(reason), reason).toBe(true);
    expect(cpuMs).toBeLessThan(CPU_MS_MAX);
  });
});

describe.skipIf(!hasPathSuites())('authority verify-cert', () => {
  const directory = temporaryDirectory();
  const sample = PATH_SUITES.flatMap((suite) => pathCases(suite)).filter((_, i) => i % 60 === 0);

  test.each(sample)('agrees with the validator on $id', (one) => {
    const { verdict, cpuMs } = judgeByCommand(one, directory);
    expect(verdict).toBe(judge(one).verdict);
    expect(cpuMs).toBeLessThan(CPU_MS_MAX);
  });
});
