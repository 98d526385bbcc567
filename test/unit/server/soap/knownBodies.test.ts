// Bodies known by their bytes: found by all of them and the charset only, within a limit, copied.
import { expect, test } from 'vitest';
import { KnownBodies } from '../../../../server/soap/knownBodies.ts';

const BODIES_MAX = 16;
const BODY_BYTES_MAX = 2048;

const bodyOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));

test('a body is found by its bytes and charset, and not by a byte or a charset less', () => {
  const bodies = new KnownBodies<number>();
  bodies.keep(bodyOf('<a>role</a>'), 'utf-8', 1);
  expect(bodies.find(bodyOf('<a>role</a>'), 'utf-8')).toBe(1);
  expect(bodies.find(bodyOf('<a>rolf</a>'), 'utf-8')).toBeUndefined();
  expect(bodies.find(bodyOf('<a>role</a> '), 'utf-8')).toBeUndefined();
  expect(bodies.find(bodyOf('<a>role</a'), 'utf-8')).toBeUndefined();
  expect(bodies.find(bodyOf('<a>role</a>'), undefined)).toBeUndefined();
  expect(bodies.find(bodyOf(''), 'utf-8')).toBeUndefined();
});

test('a kept body is a copy: the memory that it came in is used again', () => {
  const bodies = new KnownBodies<number>();
  const body = bodyOf('one');
  bodies.keep(body, undefined, 1);
  body.fill(0x78);
  expect(bodies.find(bodyOf('one'), undefined)).toBe(1);
  expect(bodies.find(body, undefined)).toBeUndefined();
});

test('the oldest body makes room for one too many', () => {
  const bodies = new KnownBodies<number>();
  for (let i = 0; i <= BODIES_MAX; i++) bodies.keep(bodyOf(`body ${i}`), undefined, i);
  const found = Array.from({ length: BODIES_MAX + 1 }, (_, i) => bodies.find(bodyOf(`body ${i}`), undefined));
  expect(found).toEqual([undefined, ...Array.from({ length: BODIES_MAX }, (_, i) => i + 1)]);
});

test('a long body is not kept, and drives none out', () => {
  const bodies = new KnownBodies<number>();
  bodies.keep(new Uint8Array(BODY_BYTES_MAX), undefined, 1);
  for (let i = 0; i < BODIES_MAX; i++) bodies.keep(new Uint8Array(BODY_BYTES_MAX + 1), undefined, 2);
  expect(bodies.find(new Uint8Array(BODY_BYTES_MAX), undefined)).toBe(1);
  expect(bodies.find(new Uint8Array(BODY_BYTES_MAX + 1), undefined)).toBeUndefined();
});
