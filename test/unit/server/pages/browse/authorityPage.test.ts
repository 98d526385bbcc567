import { parseHTML } from 'linkedom';
import { expect, test } from 'vitest';
import { authorityPage } from '../../../../../server/pages/browse/authorityPage.ts';
import type { Site, Tour } from '../../../../../server/pages/browse/site.ts';
import { SERVICE_PATH } from '../../../../../server/authority/soap/protocol.ts';

const HOSTS = new Map([
  ['staff', ['Site A:https://a.example.org:8080/auth:reader, writer', '<b>:urn:x:y']],
  ['guest', ['Site A:https://a.example.org:8080/auth:visitor']],
]);
const SETTINGS = { siteName: 'Catalogue', siteContact: undefined, siteLicence: undefined };
const SITE = { generation: '0', created: undefined, settings: SETTINGS, trustedHosts: () => HOSTS } as unknown as Site;
const TOUR = { up: '../../', target: '/browse/authority/' } as Tour;

function pageFor(role: string | undefined): ReturnType<typeof parseHTML>['document'] {
  return parseHTML(authorityPage(SITE, TOUR, HOSTS, role).html.toString()).document;
}

test('lists every role with its trusted hosts, and links to the WSDL', () => {
  const page = pageFor(undefined);
  expect([...page.querySelectorAll('h3')].map(({ textContent }) => textContent)).toEqual(['staff', 'guest']);
  const cells = [...page.querySelectorAll('tbody tr')[0]!.children].map(({ textContent }) => textContent.trim());
  expect(cells).toEqual(['Site A', 'https://a.example.org:8080/auth', 'reader, writer']);
  expect(page.querySelector('.data a')?.getAttribute('href')).toBe(`../..${SERVICE_PATH}`);
  expect(page.querySelectorAll('b').length).toBe(0);
});

test.each([
  ['guest', 1],
  ['"><script>', 0],
] as const)('shows for the role %s its %d hosts', (role, count) => {
  const page = pageFor(role);
  expect(page.querySelectorAll('.answer tbody tr').length).toBe(count);
  expect(page.querySelector('#role')?.getAttribute('value')).toBe(role);
  expect(page.querySelectorAll('script:not([src])').length).toBe(0);
});

test('repeats an endless role in the form only', () => {
  const role = 'x'.repeat(60_000);
  const page = pageFor(role);
  expect(page.querySelector('#role')?.getAttribute('value')).toBe(role);
  expect(page.querySelector('.answer')!.textContent.length).toBeLessThan(300);
});
