// The request of the API that a page is, for the command line and
// for programs. A text is quoted for each.
import { apiAddress } from './address.ts';
import type { Tour } from './site.ts';
import { html, type Markup } from './template.ts';

/** The request behind a page, of an encoded query: thrice, one too long for that once. Scripts add what copies it. */
export function requestPanel(tour: Tour, query: string, isLong = false): Markup {
  const address = apiAddress(tour, query);
  return html`<details class="request">
    <summary>API request</summary>
    ${snippet('Address', address)} ${!isLong && programs(address)}
  </details>`;
}

function programs(address: string): Markup {
  const python = `import requests\n\nanswer = requests.get(${JSON.stringify(address)})\nanswer.raise_for_status()\nprint(answer.json())`;
  return html`${snippet('curl', `curl '${address.replaceAll("'", '%27')}'`)} ${snippet('Python', python)}`;
}

function snippet(name: string, text: string): Markup {
  return html`<div class="snippet">
    <h2>${name}</h2>
    <pre data-copy="${name}" tabindex="0"><code>${text}</code></pre>
  </div>`;
}
