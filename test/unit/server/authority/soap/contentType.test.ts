// Which types are SOAP 1.1, and the charset they name.
import { expect, test } from 'vitest';
import { charsetOf } from '../../../../../server/authority/soap/service.ts';

test.each([
  [undefined, undefined],
  ['text/xml', undefined],
  ['TEXT/XML;charset=UTF-8', 'UTF-8'],
  ['text/xml; charset="utf-8"', 'utf-8'],
  ['text/xml ; Charset = "x"', undefined],
  [' text/xml;; ;charset=utf-16 ; charset=utf-8', 'utf-16'],
  ['text/xml; action="a;charset=x\\"; charset=y"; charset=utf-8', 'utf-8'],
  ['text/xml; charset=', undefined],
  ['text/xml; charset="a\\bc"', 'abc'],
])('%s is XML of charset %s', (type, charset) => {
  expect(charsetOf(type)).toEqual({ charset });
});

test.each([
  'application/soap+xml',
  'text/xmlx',
  'text/plain',
  'application/xml',
  '',
  ';',
  'multipart/related; type="text/xml"',
  'text/xml x',
])('%j is not XML', (type) => {
  expect(charsetOf(type)).toBe('unsupported');
});
