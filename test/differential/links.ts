import type { Version } from '../../engine/schema/types.ts';

/**
 * The style of the links in one response. `form` is `api` for the specification's `.../?format=api`; otherwise the
 * format value of the request (undefined without one) and whether its path ended in `.json`.
 */
export interface LinkStyle {
  readonly baseUrl: string;
  readonly version: Version;
  readonly form: 'api' | { readonly format: string | undefined; readonly json: boolean };
}

/** A string value as served: replaces `{base_url}` at its start, and spells a link in the requested style. */
export function servedText(text: string, style: LinkStyle): string {
  const link = /^\{base_url\}\/api\/v3\/([^/?]+)\/(\d+)\/\?format=api$/.exec(text);
  if (link) return linkTo(style, `${link[1]}/${link[2]}`);
  return text.startsWith('{base_url}') ? style.baseUrl + text.slice('{base_url}'.length) : text;
}

/** The link to a path below the version, without its final slash, such as `platforms/30` or `platforms`. */
export function linkTo({ baseUrl, version, form }: LinkStyle, path: string): string {
  const start = `${baseUrl}/api/${version}/${path}`;
  if (form === 'api') return `${start}/?format=api`;
  const query = form.format === undefined ? '' : `?format=${form.format}`;
  return form.json ? `${start}.json${query}` : `${start}/${query}`;
}
