import { expect, test } from 'vitest';
import { servedDocument } from '../../support/documentChecker.ts';

test('waits for a document that the server cannot make yet', async () => {
  const responses = [
    { status: 503, body: '{"title":"Service Unavailable"}' },
    { status: 200, body: '{"paths":{}}' },
  ];
  expect(await servedDocument(() => Promise.resolve(responses.shift()!))).toEqual({ paths: {} });
});

test('fails with the response if the document does not come', async () => {
  const document = servedDocument(() => Promise.resolve({ status: 500, body: 'out of order' }), 1);
  await expect(document).rejects.toThrow('/openapi.json?spellings=all: 500 out of order');
});
