// What a request says, row by row of the design's table of the message level. What
// toolkits write is taken by the quick reader of XML.
import { describe, expect, test } from 'vitest';
import { readEnvelope } from '../../../../server/soap/envelopeReader.ts';
import type { FaultName } from '../../../../server/soap/faults.ts';
import { readPlainTree } from '../../../../data/xml/plainReader.ts';
import { roleCall, TOOLKIT_ENVELOPES } from '../../../support/envelopes.ts';
import { MESSAGE_CASES } from '../../../support/messageCases.ts';

const SIZE = { depth: 32, elements: 20_000, attributes: 64 };

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

test.each(Object.keys(TOOLKIT_ENVELOPES).filter((name) => name !== 'references' && name !== 'pretty'))(
  'what %s writes is read by the quick reader',
  (name) => {
    expect(readPlainTree(TOOLKIT_ENVELOPES[name]!, SIZE)).toBeDefined();
    expect(reading(TOOLKIT_ENVELOPES[name]!)).toEqual(['getTrustedHostInfo', 'academic']);
  },
);

describe('references in a text', () => {
  test.each([
    ['&lt;a b=&quot;c&quot;&gt;&apos;&amp;&lt;/a&gt;', `<a b="c">'&</a>`],
    ['&amp;lt; &amp;amp;', '&lt; &amp;'],
    [']]&gt;', ']]>'],
  ])('to the five characters of XML are read by the quick reader too: %s', (text, value) => {
    expect(readPlainTree(roleCall(text), SIZE)).toBeDefined();
    expect(reading(roleCall(text))).toEqual(['getTrustedHostInfo', value]);
  });

  test.each(['&#60;', '&#x3C;', '&LT;', '&lt', '&lt ;', '&;', '&', '&ltt;', '&constructor;', '&'.repeat(9)])(
    'of other forms are left to the strict reader: %s',
    (text) => {
      expect(readPlainTree(roleCall(text), SIZE)).toBeUndefined();
    },
  );
});
