// The declarations as the Markdown tables of the documents, which tests compare with them. Pure: text out.
import { PARAMETERS } from '../../engine/query/parameters.ts';
import { KEYS, type KeyRow } from '../../server/authority/configuration/keys.ts';
import { SETTINGS } from '../../server/settings/declarations.ts';
import { environmentName, flagName } from '../../server/settings/sources.ts';
import { SWITCH } from '../../server/settings/values.ts';

/** The settings as server/settings/README.md has them, a line each. */
export function settingsTable(): string {
  const rows = SETTINGS.map((setting) => {
    const flag = [flagName(setting), setting.kind.placeholder.replaceAll('|', '\\|')].filter(Boolean).join(' ');
    const help = setting.help + (setting.arity === 'many' ? ' (repeatable)' : '');
    const key = setting.name === 'config' ? '' : `\`${setting.name}\``;
    const texts = [setting.initialText, help].map((text) => text.replaceAll(/[|<]/g, '\\$&'));
    return [`\`${flag}\``, `\`${environmentName(setting)}\``, key, ...texts];
  });
  return tableOf(['Flag', 'Environment', 'TOML key', 'Default', 'Meaning'], rows);
}

/** What heeds a parameter. */
const VIEW_WORDS = { list: 'lists', record: 'records', root: 'root views', lookup: 'look-ups' } as const;

/** The parameters that are no filters as server/catalogue/README.md has them. */
export function parametersTable(): string {
  const rows = PARAMETERS.map(({ name, views, value, meaning }) => [
    `\`${name}\``,
    views.map((view) => VIEW_WORDS[view]).join(', '),
    value,
    meaning,
  ]);
  return tableOf(['Parameter', 'Of', 'Value', 'Meaning'], rows);
}

/** The keys of an authority's configuration as server/authority/README.md has them. */
export function keysTable(): string {
  const rows = Object.entries<KeyRow<unknown>>(KEYS).map(([key, { kind, arity, initialText, help }]) => [
    `\`${key}\``,
    kind === SWITCH ? 'true or false' : kind.placeholder.replaceAll(/[|<]/g, '\\$&'),
    initialText,
    help + (arity === 'many' ? ' (one, or an array)' : ''),
  ]);
  return tableOf(['Key', 'Value', 'Default', 'Meaning'], rows);
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
