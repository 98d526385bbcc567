// What a request says, row by row of the design's table of the message level. Both readers are asked: the scanner may
// pass, but what it answers must be what the general reader answers.
import { describe, expect, test } from 'vitest';
import { readEnvelope } from '../../../../server/soap/envelopeReader.ts';
import { scanEnvelope } from '../../../../server/soap/envelopeScanner.ts';
import type { FaultName } from '../../../../server/soap/faults.ts';
import { roleCall, TOOLKIT_ENVELOPES } from '../../../support/envelopes.ts';
import { MESSAGE_CASES } from '../../../support/messageCases.ts';

/** The operation's name and values, or the name of the fault, as both readers have it. */
function reading(bytes: string | Uint8Array, charset?: string): readonly string[] | FaultName {
  const body = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
  const read = readEnvelope(body, charset);
  if (charset === undefined) expect(scanEnvelope(body) ?? read).toEqual(read);
  return typeof read === 'string' ? read : [read.operation.name, ...read.values];
}

describe.each(Object.entries(MESSAGE_CASES))('%s', (_, cases) => {
  test.for(cases)('%s', ([, bytes, read, charset]) => {
    expect(reading(bytes, charset)).toEqual(read);
  });
});

test.each(Object.keys(TOOLKIT_ENVELOPES).filter((name) => name !== 'references' && name !== 'pretty'))(
  'what %s writes is read by the scanner',
  (name) => {
    expect(scanEnvelope(Buffer.from(TOOLKIT_ENVELOPES[name]!))?.values).toEqual(['academic']);
  },
);

describe('references in a text', () => {
  test.each([
    ['&lt;a b=&quot;c&quot;&gt;&apos;&amp;&lt;/a&gt;', `<a b="c">'&</a>`],
    ['&amp;lt; &amp;amp;', '&lt; &amp;'],
    [']]&gt;', ']]>'],
  ])('to the five characters of XML are read by the scanner too: %s', (text, value) => {
    expect(scanEnvelope(Buffer.from(roleCall(text)))?.values).toEqual([value]);
    expect(reading(roleCall(text))).toEqual(['getTrustedHostInfo', value]);
  });

  test.each(['&#60;', '&#x3C;', '&LT;', '&lt', '&lt ;', '&;', '&', '&ltt;', '&constructor;', '&'.repeat(9)])(
    'of other forms are left to the strict reader: %s',
    (text) => {
      expect(scanEnvelope(Buffer.from(roleCall(text)))).toBeUndefined();
    },
  );
});
