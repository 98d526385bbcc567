// What a request says, row by row of the design's table of the message level.
import { describe, expect, test } from 'vitest';
import { readEnvelope } from '../../../../../server/authority/soap/envelopeReader.ts';
import type { FaultName } from '../../../../../server/authority/soap/faults.ts';
import { roleCall, TOOLKIT_ENVELOPES } from '../../../../support/envelopes.ts';
import { MESSAGE_CASES } from '../../../../support/messageCases.ts';

/** The operation's name and values, or the name of the fault. */
function reading(bytes: string | Uint8Array, charset?: string): readonly string[] | FaultName {
  const body = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
  const read = readEnvelope(body, charset);
  return typeof read === 'string' ? read : [read.operation.name, ...read.values];
}

describe.each(Object.entries(MESSAGE_CASES))('%s', (_, cases) => {
  test.for(cases)('%s', ([, bytes, read, charset]) => {
    expect(reading(bytes, charset)).toEqual(read);
  });
});

test.each(Object.keys(TOOLKIT_ENVELOPES))('reads what %s writes', (name) => {
  expect(reading(TOOLKIT_ENVELOPES[name]!)).toEqual(['getTrustedHostInfo', 'academic']);
});

test.each([
  ['&lt;a b=&quot;c&quot;&gt;&apos;&amp;&lt;/a&gt;', `<a b="c">'&</a>`],
  ['&amp;lt; &amp;amp;', '&lt; &amp;'],
  [']]&gt;', ']]>'],
])('reads the five entities of XML: %s', (text, value) => {
  expect(reading(roleCall(text))).toEqual(['getTrustedHostInfo', value]);
});
