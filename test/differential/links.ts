// The oracle's writing of own URLs: the base URL in place of `{base_url}`,
// the version and the link form of the answer.
import type { Version } from '../../engine/schema/types.ts';

/**
 * How links of one answer look. `form` is `api` for the specification's `.../?format=api`; otherwise the format value
 * of the request (undefined without one) and whether its path ended in `.json`.
 */
export interface LinkStyle {
  readonly baseUrl: string;
  readonly version: Version;
  readonly form: 'api' | { readonly format: string | undefined; readonly json: boolean };
}

/** A string value as served: `{base_url}` at its start replaced; a link spelled in the style asked for. */
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
