// The settings as the table of README.md beside this, made of their declarations. Pure: text out; no running program
// needs it, so that none reads it.
import { SETTINGS } from './declarations.ts';
import { environmentName, flagName } from './sources.ts';

/** The settings as the Markdown table of README.md beside this, a line a setting; the tidy test compares the two. */
export function settingsTable(): string {
  const lines = SETTINGS.map((setting) => {
    const flag = [flagName(setting), setting.kind.placeholder.replaceAll('|', '\\|')].filter(Boolean).join(' ');
    const help = setting.help + (setting.arity === 'many' ? ' (repeatable)' : '');
    const key = setting.name === 'config' ? '' : `\`${setting.name}\``;
    const texts = [setting.initialText, help].map((text) => text.replaceAll(/[|<]/g, '\\$&'));
    return `| \`${flag}\` | \`${environmentName(setting)}\` | ${key} | ${texts.join(' | ')} |`;
  });
  return `| Flag | Environment | TOML key | Default | Meaning |\n| --- | --- | --- | --- | --- |\n${lines.join('\n')}`;
}
