// Trusted hosts: the conversion of the older mapConfig.xml, and the responses to clients.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { trustedHostStrings } from '../../../../server/authority/authority.ts';
import { CONFIG_LINES, loadedData, mistakesWith, type TestSite, testSite } from '../../../support/authorities.ts';
import { ecPair } from '../../../support/pki.ts';

let site: TestSite;
beforeAll(() => {
  site = testSite({ site: ecPair(), partner: ecPair() });
});
afterAll(() => site.remove());

const mistakesOf = (lines: readonly string[]): readonly string[] => mistakesWith(site, lines);

describe('the older mapConfig.xml', () => {
  const older = (trusted: string, name = 'Here'): string => `<?xml version="1.0"?>
<!-- by hand -->
<AAmap>
  <thisHost name="${name}"><wsdl>https://here.example.org/</wsdl><loginURI>https://here.example.org/login</loginURI></thisHost>
${trusted}
</AAmap>`;
  const withOlder = ['mapConfig = "mapConfig.xml"', ...CONFIG_LINES];

  test('gives its trusted hosts, before those of the configuration itself', () => {
    site.write(
      'mapConfig.xml',
      older(`  <trusted name="Old"><aaURI> https://old.example.org/ </aaURI><aaDN>/O=Old/CN=AA</aaDN><loginURI/>
    <role remote="r1" local="reader"/><role remote="r2" local="reader"/><role remote="r1" local="editor"/></trusted>
  <trusted name="Older"><wsdl>https://older.example.org/</wsdl><aaDN>/O=<![CDATA[Older]]>/CN=AA</aaDN><role remote="x" local="reader"/></trusted>`),
    );
    expect(mistakesOf(withOlder)).toEqual([]);
    expect(Object.fromEntries(trustedHostStrings(loadedData(site).hosts))).toEqual({
      reader: [
        'Old:https://old.example.org/:r1, r2',
        'Older:https://older.example.org/:x',
        'Partner:https://partner.example.org/attAuthority.wsdl:student',
      ],
      editor: ['Old:https://old.example.org/:r1', 'Partner:https://partner.example.org/attAuthority.wsdl:staff'],
    });
  });

  test('has its errors reported with their lines', () => {
    site.write(
      'mapConfig.xml',
      older('  <trusted name="Ol:d"><wsdl>x</wsdl><aaURI>y</aaURI>\n  <role remote="a,b"/>\n  </trusted>', 'There'),
    );
    expect(mistakesOf(withOlder)).toEqual([
      'mapConfig.xml:4: thisHost is "There", but this site is "Here"',
      'mapConfig.xml:5: name: "Ol:d" has a colon',
      'mapConfig.xml:5: signer is missing or empty',
      'mapConfig.xml:5: uri: got "y", want an address such as https://host/path',
      'mapConfig.xml:6: remote: "a,b" has a colon or comma',
      'mapConfig.xml:6: local is missing or empty',
      'mapConfig.xml:7: Ol:d has two addresses: y and x',
    ]);
  });

  test('has each part of a host once', () => {
    const twice = (part: string, text: string): string => `<${part}>${text}</${part}>\n<${part}>${text}</${part}>`;
    const address = 'https://old.example.org/';
    for (const [part, parts] of [
      ['aaDN', `<aaURI>${address}</aaURI>\n${twice('aaDN', '/O=Old/CN=AA')}`],
      ['aaURI', `\n${twice('aaURI', address)}<aaDN>/O=Old</aaDN>`],
      ['wsdl', `\n${twice('wsdl', address)}<aaDN>/O=Old</aaDN>`],
    ]) {
      site.write('mapConfig.xml', older(`<trusted name="Old">${parts}</trusted>`));
      expect(mistakesOf(withOlder)).toEqual([`mapConfig.xml:7: Old has more than one ${part}`]);
    }
  });

  test.for([
    ['that is no XML', '<AAmap>', /^mapConfig\.xml: is not well-formed XML/],
    ['with a DOCTYPE', '<!DOCTYPE AAmap><AAmap/>', /^mapConfig\.xml: has a DOCTYPE, which is not read$/],
    ['with another root', '<map/>', /^mapConfig\.xml:1: the root is map; want AAmap$/],
  ] as const)('%s is an error', ([, text, mistake]) => {
    site.write('mapConfig.xml', text);
    expect(mistakesOf(withOlder)).toEqual([expect.stringMatching(mistake)]);
  });
});

describe('the response about trusted hosts', () => {
  test('has each host with its remote roles once, in the order of the configuration', () => {
    const hosts = ['A', 'B', 'C'].map((name, i) => ({
      name,
      uri: `u:${name}`,
      signer: '',
      mappings: [
        { remote: 'z', local: 'l' },
        { remote: 'a', local: 'l' },
        { remote: 'z', local: 'l' },
        { remote: 'a', local: i === 1 ? '__proto__' : 'm' },
      ],
    }));
    expect([...trustedHostStrings(hosts)]).toEqual([
      ['l', ['A:u:A:z, a', 'B:u:B:z, a', 'C:u:C:z, a']],
      ['m', ['A:u:A:a', 'C:u:C:a']],
      ['__proto__', ['B:u:B:a']],
    ]);
  });
});
