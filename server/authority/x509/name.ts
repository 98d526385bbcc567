// Distinguished names (RFC 5280, sections 4.1.2.4 and 7.1): how they are read, compared, and written for people.
// Knows nothing of certificates. Used by the whole module, and by the authority, which knows its users by name.

/** One attribute of a name. `type` is the short name (`CN`), or the dotted OID where there is none. */
export interface NameAttribute {
  readonly oid: string;
  readonly type: string;
  readonly value: string;
}

/**
 * A distinguished name: its RDNs in certificate order, each with one attribute or more.
 * `key` is equal for two names exactly when RFC 5280 section 7.1 makes them match.
 */
export interface Name {
  readonly der: Uint8Array;
  readonly rdns: readonly (readonly NameAttribute[])[];
  readonly key: string;
}

/** The name as `/TYPE=value` in certificate order; '' for the empty name. For people: see `nameProblem` before trusting it. */
export declare function nameText(name: Name): string;

/** Why a name cannot be told by its text: a value with `/TYPE=` in it, or a control character. Undefined when it can. */
export declare function nameProblem(name: Name): string | undefined;

/** Whether two names match (RFC 5280, section 7.1): case and runs of blanks aside, whatever string types they use. */
export declare function sameName(a: Name, b: Name): boolean;

/** A key that is equal for two names with exactly the same set of `type=value`, in whatever order. */
export declare function nameSetKey(name: Name): string;

/** The key of a name written as `/TYPE=value/TYPE=value`, to compare with `nameSetKey`; undefined where the text is no such name. */
export declare function nameSetKeyOfText(text: string): string | undefined;
