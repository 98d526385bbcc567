// The request of the API that a page is, for the command line and
// for programs. A text is quoted for each.
import { apiAddress, type Pair } from './address.ts';
import type { Tour } from './site.ts';
import { html, type Markup } from './template.ts';

/** The request behind a page, thrice; scripts add what copies it. */
export function requestPanel({ tour, pairs }: { readonly tour: Tour; readonly pairs: readonly Pair[] }): Markup {
  const address = apiAddress(tour, pairs);
  const python = `import requests\n\nanswer = requests.get(${JSON.stringify(address)})\nanswer.raise_for_status()\nprint(answer.json())`;
  return html`<details class="request">
    <summary>API request</summary>
    ${snippet('Address', address)} ${snippet('curl', `curl '${address.replaceAll("'", '%27')}'`)}
    ${snippet('Python', python)}
  </details>`;
}

function snippet(name: string, text: string): Markup {
  return html`<div class="snippet">
    <h3>${name}</h3>
    <pre data-copy="${name}" tabindex="0"><code>${text}</code></pre>
  </div>`;
}
