// Validates XML against a schema with xmllint.
import { spawnSync } from 'node:child_process';

/**
 * The schemas of published formats. That of Atom is written after RFC 4287, appendix B; xmllint reads its XML syntax.
 */
const SCHEMAS = {
  atom: ['--relaxng', 'test/support/atom.rng'],
  sitemap: ['--schema', 'test/support/sitemap.xsd'],
} as const;

/** The errors of a document, empty if it is valid. Needs xmllint. */
export function schemaErrors(schema: keyof typeof SCHEMAS, xml: string): string {
  const { status, stderr } = spawnSync('xmllint', ['--noout', '--nonet', ...SCHEMAS[schema], '-'], {
    input: xml,
    encoding: 'utf8',
  });
  return status === 0 ? '' : stderr;
}
