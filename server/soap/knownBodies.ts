// The bodies of requests whose answer is known, byte for byte, so that one that comes again is not read again. Knows
// neither messages nor answers; holds copies within a limit.

/** Requests of one role by one toolkit are the same bytes: more than the roles and toolkits of most sites. */
const BODIES_MAX = 16;
/** Four times what toolkits send for getTrustedHostInfo; so 32 kB at most are held. */
const BODY_BYTES_MAX = 2048;

interface KnownBody<Value> {
  readonly bytes: Uint8Array;
  readonly charset: string | undefined;
  readonly value: Value;
}

/** The last 16 bodies kept, of up to 2,048 bytes each, with what each means. */
export class KnownBodies<Value> {
  readonly #known: KnownBody<Value>[] = [];
  #next = 0;

  /** What a body under a charset means, undefined where it is not known. Cost: a comparison with each of its length. */
  find(body: Uint8Array, charset: string | undefined): Value | undefined {
    for (let i = 0; i < this.#known.length; i++) {
      const { bytes, charset: known, value } = this.#known[i]!;
      if (bytes.length === body.length && known === charset && Buffer.compare(bytes, body) === 0) return value;
    }
    return undefined;
  }

  /** Keeps a copy of a body that is not known, in place of the oldest one; a longer one is not kept. */
  keep(body: Uint8Array, charset: string | undefined, value: Value): void {
    if (body.length > BODY_BYTES_MAX) return;
    this.#known[this.#next] = { bytes: new Uint8Array(body), charset, value };
    this.#next = (this.#next + 1) % BODIES_MAX;
  }
}
