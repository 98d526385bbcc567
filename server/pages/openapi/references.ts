// What the document is made of: objects of JSON, references within it, and how components are named.
// Pure; knows nothing of the catalogue.

/** An object of the document. */
export type DocumentObject = { readonly [name: string]: unknown };

/** A reference to a component, such as `refTo('schemas', 'Text')`. */
export function refTo(kind: string, name: string): DocumentObject {
  return { $ref: `#/components/${kind}/${name}` };
}

/** References to several components of one kind, by the name that `nameOf` gives each. */
export function refsTo(kind: string, names: Readonly<Record<string, string>>): DocumentObject {
  return Object.fromEntries(Object.entries(names).map(([name, component]) => [name, refTo(kind, component)]));
}

/** A name as one word in capitals, as schemas are called: `Migration Properties` is `MigrationProperties`. */
export function wordOf(name: string): string {
  return name.replace(/(?:^|[ _])(.)/g, (_, first: string) => first.toUpperCase());
}
