import { expect, test } from 'vitest';
import { changedForms, formDigests, rememberedDigests } from '../../../support/formDigests.ts';

test('has the same bytes of responses under the same form version', async () => {
  const now = await formDigests();
  const before = rememberedDigests();
  expect(changedForms(before, now), 'raise FORM_VERSION in server/catalogue/conditional.ts, then npm run form').toEqual(
    [],
  );
  expect(now, 'npm run form').toEqual(before);
});

test('detects one changed byte, or a missing request, unless the version is raised', () => {
  const before = { version: 1, digests: { a: '1', b: '2' } };
  expect(changedForms(before, { version: 1, digests: { a: '1', b: '3', c: '4' } })).toEqual(['b']);
  expect(changedForms(before, { version: 1, digests: { b: '2' } })).toEqual(['a']);
  expect(changedForms(before, { version: 2, digests: { a: '1', b: '3' } })).toEqual([]);
});
