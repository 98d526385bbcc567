// The platform names that the pure engine may use in addition to the language: the text coders, `atob`, and those of
// webassembly.d.ts. A new name here widens what the engine can access. Clocks, randomness, I/O and threads must stay
// out.

declare class TextEncoder {
  encode(text: string): Uint8Array;
  encodeInto(text: string, target: Uint8Array): { read: number; written: number };
}

declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
  decode(bytes: Uint8Array): string;
}

declare function atob(base64: string): string;
