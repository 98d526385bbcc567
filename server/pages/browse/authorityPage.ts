// The page of the attribute authority: its purpose, its WSDL, and the results of getTrustedHostInfo, for every role or
// for the role in a form. It shows only what that operation returns to any client.
import { BROWSE_PREFIX } from './address.ts';
import { amountOf, framed } from './frame.ts';
import type { BrowsePage, Site, Tour, TrustedHosts } from './site.ts';
import { smallTable } from './table.ts';
import { html, type Markup } from './template.ts';
import { cut } from './values.ts';

export const ROLE = `${BROWSE_PREFIX}role`;

const TITLE = 'Attribute authority';
/** Path of the service and of its description, below the root (spec, Service address). */
const WSDL = 'attAuthority.wsdl';
/** Roles that the page lists. The form also finds the others. */
const ROLES_MAX = 200;
/** Characters of the requested role that the heading of its result shows. A query may contain 64 kB of them. */
const ROLE_CHARACTERS_MAX = 160;
/** A trusted host as the operation returns it: its name, its address, its roles. */
const HOST = /^(.*?):(.*):(.*)$/s;

/** `role` is the value that the form has sent. Cost: the roles that are listed. */
export function authorityPage(site: Site, tour: Tour, hosts: TrustedHosts, role: string | undefined): BrowsePage {
  const listed = [...hosts.entries()].slice(0, ROLES_MAX);
  const all = listed.map(
    ([name, of]) =>
      html`<section>
        <h3><bdi>${name}</bdi></h3>
        ${hostTable(`Trusted hosts for ${name}`, of)}
      </section>`,
  );
  const main = html`<div class="title">
      <h1>${TITLE}</h1>
      <p class="lead">
        It tells services what roles people have, in certificates that it signs, and maps roles of sites that it trusts
        to its own.
      </p>
    </div>
    <div class="summary">
      <p class="total"><strong>${hosts.size}</strong> ${hosts.size === 1 ? 'role' : 'roles'} with trusted hosts</p>
      <ul class="data" aria-label="The service">
        <li><a href="${tour.up}${WSDL}">WSDL</a></li>
      </ul>
    </div>
    <form method="get" class="search asked">
      <label for="role">Which hosts have roles that map to this one? (getTrustedHostInfo)</label>
      <div>
        <input id="role" name="${ROLE}" value="${role ?? ''}" required autocomplete="off" /><button>Ask</button>
      </div>
    </form>
    ${role !== undefined && answered(hosts, role)}
    <h2>Trusted hosts</h2>
    ${all.length > 0 ? all : html`<p class="quiet">No role of another site is mapped to one of this.</p>`}`;
  return { status: 200, html: framed(site, tour, { title: TITLE, crumbs: [{ label: TITLE }], main }) };
}

function answered(hosts: TrustedHosts, role: string): Markup {
  const found = hosts.get(role) ?? [];
  return html`<section class="answer" role="status">
    <h2>${amountOf(found.length, 'trusted host')} for <bdi>${cut(role, ROLE_CHARACTERS_MAX)}</bdi></h2>
    ${found.length > 0 && hostTable(`Answer for ${role}`, found)}
  </section>`;
}

function hostTable(title: string, hosts: readonly string[]): Markup {
  const rows = hosts.map((text) => {
    const [, name = text, uri = '', roles = ''] = HOST.exec(text) ?? [];
    return [name, uri, roles].map((part) => html`<bdi>${part}</bdi>`);
  });
  return smallTable(title, ['Host', 'Address', 'Its roles'], rows);
}
