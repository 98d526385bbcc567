// The only platform names the pure engine may see besides the language: the text coders, and webassembly.d.ts beside
// this. Adding a name here widens what the engine can touch; clocks, randomness, I/O and threads stay out.

declare class TextEncoder {
  encode(text: string): Uint8Array;
  encodeInto(text: string, target: Uint8Array): { read: number; written: number };
}

declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
  decode(bytes: Uint8Array): string;
}

declare function atob(base64: string): string;
