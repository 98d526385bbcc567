// Name constraints (RFC 5280, section 4.2.1.10): which names of each form are within which subtrees. Patterns of names
// are compared with a regular expression.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { constraintProblem, matchesAny } from '../../../../../server/authority/x509/nameConstraints.ts';
import {
  type Attribute,
  extension,
  generalName,
  make,
  nameConstraints,
  nameDer,
  newKeys,
  subjectAltNames,
  element,
  explicit,
  integer,
  oid,
  sequence,
  utf8,
} from '../../../../support/certificates.ts';

const { dns, email, uri, ip, directory, registeredId } = generalName;
const KEYS = newKeys();
const OUTSIDE = 'has a name outside those that its CA may give';
const FORBIDDEN = 'has a name that its CA may not give';
const NONSENSE = 'is below a CA with name constraints that make no sense';
const INCOMPARABLE = 'has a name that its CA constrains and that cannot be compared';

/** The problem of a certificate with these names below a CA with these constraints, as extensions in DER. */
function problemOf(
  names: readonly Uint8Array[],
  constraints: Uint8Array,
  subject: readonly Attribute[] = [],
  comparisons = 1000,
): string | undefined {
  const extensions = names.length > 0 ? [subjectAltNames(...names)] : [];
  const { certificate } = make({ subject, keys: KEYS, extensions });
  const ca = make({ subject: [['CN', 'CA']], keys: KEYS, extensions: [constraints] }).certificate;
  return constraintProblem(certificate, ca.extensions.nameConstraints!, { comparisons });
}

/** Whether a name is within a base. Permitted and excluded subtrees must agree. */
function isWithin(name: Uint8Array, base: Uint8Array): boolean {
  const permitted = problemOf([name], nameConstraints({ permitted: [base] }));
  const excluded = problemOf([name], nameConstraints({ excluded: [base] }));
  expect([permitted, excluded]).toEqual(permitted === undefined ? [undefined, FORBIDDEN] : [OUTSIDE, undefined]);
  return permitted === undefined;
}

const person = (...attributes: readonly Attribute[]): Buffer => directory(nameDer(attributes));

describe('a subtree', () => {
  test.each([
    ['a host itself, in any letters', dns('Example.ORG'), dns('example.org')],
    ['hosts below it', dns('a.b.example.org'), dns('example.org')],
    ['patterns below it', dns('*.example.org'), dns('example.org')],
    ['every host, if it is empty', dns('example.org'), dns('')],
    ['a mailbox, its host in any letters', email('Ada@Example.org'), email('Ada@example.ORG')],
    ['all mailboxes of a host', email('ada@example.org'), email('example.org')],
    ['all mailboxes below a domain', email('ada@mail.example.org'), email('.example.org')],
    ['the host of a URI', uri('https://user@Example.org:8080/a?b#c'), uri('example.org')],
    ['hosts of URIs below a domain', uri('http://www.example.org'), uri('.example.org')],
    ['an address of a network', ip(192, 0, 2, 77), ip(192, 0, 2, 0, 255, 255, 255, 0)],
    ['an address of half a byte', ip(192, 0, 2, 31), ip(192, 0, 2, 16, 255, 255, 255, 240)],
    ['any address of IPv4', ip(1, 2, 3, 4), ip(0, 0, 0, 0, 0, 0, 0, 0)],
    ['an address of IPv6', ip(...Array(15).fill(0), 1), ip(...Array(16).fill(0), ...Array(15).fill(255), 0)],
    ['a name that starts with it', person(['O', 'Grid'], ['CN', 'Ada']), person(['O', 'GRID'])],
    ['the name itself', person(['O', 'Grid']), person(['O', 'Grid'])],
  ])('contains %s', (_, name, base) => {
    expect(isWithin(name, base)).toBe(true);
  });

  test.each([
    ['a host that ends in the same letters', dns('badexample.org'), dns('example.org')],
    ['the host above', dns('example.org'), dns('www.example.org')],
    ['a mailbox in other letters', email('ada@example.org'), email('Ada@example.org')],
    ['mailboxes below a host', email('ada@mail.example.org'), email('example.org')],
    ['mailboxes of the domain itself', email('ada@example.org'), email('.example.org')],
    ['hosts of URIs below a host', uri('http://www.example.org/'), uri('example.org')],
    ['the domain itself', uri('http://example.org/'), uri('.example.org')],
    ['an address of another network', ip(192, 0, 3, 1), ip(192, 0, 2, 0, 255, 255, 255, 0)],
    ['an address of the other version', ip(...Array(16).fill(0)), ip(0, 0, 0, 0, 0, 0, 0, 0)],
    ['a name that has it further on', person(['C', 'UK'], ['O', 'Grid']), person(['O', 'Grid'])],
    ['a name that is shorter', person(['O', 'Grid']), person(['O', 'Grid'], ['CN', 'Ada'])],
  ])('does not contain %s', (_, name, base) => {
    expect(isWithin(name, base)).toBe(false);
  });
});

test('excludes a pattern if one of its hosts, or a deeper one, is excluded, and does not permit it if one is permitted', () => {
  for (const base of ['www.example.org', 'a.www.example.org']) {
    expect(problemOf([dns('*.example.org')], nameConstraints({ excluded: [dns(base)] }))).toBe(FORBIDDEN);
    expect(problemOf([dns('*.example.org')], nameConstraints({ permitted: [dns(base)] }))).toBe(OUTSIDE);
  }
  expect(problemOf([dns('*.example.org')], nameConstraints({ excluded: [dns('example.com')] }))).toBeUndefined();
});

test('leaves other forms alone if it constrains one', () => {
  const constraints = nameConstraints({ permitted: [dns('example.org')], excluded: [email('example.org')] });
  expect(problemOf([uri('http://example.com/'), ip(1, 2, 3, 4)], constraints, [['CN', 'x']])).toBeUndefined();
});

test('checks every name, permits by one of several subtrees, and lets excluded override permitted', () => {
  const constraints = nameConstraints({
    permitted: [dns('example.org'), dns('example.com')],
    excluded: [dns('a.example.org')],
  });
  expect(problemOf([dns('example.com'), dns('b.example.org')], constraints)).toBeUndefined();
  expect(problemOf([dns('example.com'), dns('example.net')], constraints)).toBe(OUTSIDE);
  expect(problemOf([dns('example.com'), dns('a.example.org')], constraints)).toBe(FORBIDDEN);
});

test('checks the subject and mail addresses in it too', () => {
  const grid = nameConstraints({ permitted: [person(['O', 'Grid'])] });
  expect(
    problemOf([], grid, [
      ['O', 'Grid'],
      ['CN', 'Ada'],
    ]),
  ).toBeUndefined();
  expect(problemOf([], grid, [['O', 'Other']])).toBe(OUTSIDE);
  expect(problemOf([dns('a.org')], grid)).toBeUndefined();
  const mail = nameConstraints({ permitted: [email('example.org')] });
  expect(problemOf([], mail, [['emailAddress', 'ada@example.org']])).toBeUndefined();
  expect(problemOf([email('ada@example.org')], mail, [['emailAddress', 'ada@example.com']])).toBe(OUTSIDE);
});

describe('a name that cannot be compared', () => {
  test.each([
    ['a host with a blank', dns('a b.org'), dns('example.org')],
    ['a host with a NUL', dns('www.example.org\0.example.com'), dns('example.com')],
    ['an address as host', dns('192.0.2.1'), dns('example.org')],
    ['a pattern with its star elsewhere', dns('a*.example.org'), dns('example.org')],
    ['a mail address without a host', email('ada'), email('example.org')],
    ['a mail address with two signs', email('a@b@example.org'), email('example.org')],
    ['a URI without a host', uri('urn:example:a'), uri('example.org')],
    ['a URI with an address', uri('http://192.0.2.1/'), uri('example.org')],
    ['an address of five bytes', ip(1, 2, 3, 4, 5), ip(1, 2, 3, 4, 255, 255, 255, 255)],
    ['a form without a comparison', registeredId('1.2.3'), registeredId('1.2.3')],
  ])('is refused: %s', (_, name, base) => {
    expect(problemOf([name], nameConstraints({ permitted: [base] }))).toBe(INCOMPARABLE);
    expect(problemOf([name], nameConstraints({ excluded: [base] }))).toBe(INCOMPARABLE);
  });
});

describe('an invalid constraint', () => {
  test.each([
    ['a host with a leading period', nameConstraints({ permitted: [dns('.example.org')] })],
    ['a pattern', nameConstraints({ excluded: [dns('*.example.org')] })],
    ['an invalid mailbox', nameConstraints({ permitted: [email('@example.org')] })],
    ['an address without a mask', nameConstraints({ excluded: [ip(1, 2, 3, 4)] })],
    ['a mask with a hole', nameConstraints({ excluded: [ip(1, 2, 3, 4, 255, 0, 255, 0)] })],
    [
      'a minimum',
      extension('2.5.29.30', sequence(explicit(0, sequence(dns('a.org'), element(0x80, Buffer.of(1))))), true),
    ],
    [
      'a maximum',
      extension('2.5.29.30', sequence(explicit(0, sequence(dns('a.org'), element(0x81, Buffer.of(1))))), true),
    ],
  ])('refuses the certificate: %s', (_, constraints) => {
    expect(problemOf([], constraints, [['CN', 'x']])).toBe(NONSENSE);
  });

  test('may fail already when it is read', () => {
    const empty = extension('2.5.29.30', sequence(), true);
    const other = extension('2.5.29.30', sequence(explicit(2, sequence(oid('1.2'), integer(1)))), true);
    for (const wrong of [empty, other, extension('2.5.29.30', utf8('a'), true)]) {
      expect(() => problemOf([], wrong)).toThrow();
    }
  });
});

test('counts names, subtrees and comparisons, and refuses too many', () => {
  const many = Array.from({ length: 100 }, (_, i) => dns(`h${i}.example.org`));
  const constraints = nameConstraints({ permitted: many });
  expect(problemOf(many, constraints, [], 100 * 102)).toBeUndefined();
  expect(problemOf(many, constraints, [], 100 * 102 - 1)).toMatch(/more names to compare/);
});

test('finds a text within a pattern exactly if the regular expression of that pattern matches', () => {
  const pieces = fc.array(fc.constantFrom('a', 'b', '/', '*'), { maxLength: 8 }).map((list) => list.join(''));
  const texts = fc.array(fc.constantFrom('a', 'b', '/'), { maxLength: 12 }).map((list) => list.join(''));
  fc.assert(
    fc.property(texts, pieces, (text, pattern) => {
      expect(matchesAny(text, [pattern])).toBe(new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(text));
    }),
    { numRuns: 2000 },
  );
});

test('refuses a pattern of many wildcards at once, however long the name', { timeout: 20_000 }, () => {
  expect(matchesAny('a'.repeat(100_000), [`${'*a'.repeat(5000)}b`])).toBe(false);
});
