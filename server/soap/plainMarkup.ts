// The bytes of plain markup by their names, and what each byte may be part of: the alphabet of the fast reader of
// requests. Data only. Whatever has no place here is unusual, and left to the strict reader.

/** Blanks, as far as they are usual: a carriage return is not. */
export const TAB = 0x09;
/** See TAB. */
export const NEWLINE = 0x0a;
/** See TAB. */
export const SPACE = 0x20;
/** Markup, in the order of its codes. */
export const QUOTE = 0x22;
/** See QUOTE. */
export const APOSTROPHE = 0x27;
/** See QUOTE. */
export const AMPERSAND = 0x26;
/** See QUOTE. */
export const SLASH = 0x2f;
/** See QUOTE. */
export const COLON = 0x3a;
/** See QUOTE. */
export const SEMICOLON = 0x3b;
/** See QUOTE. */
export const LESS = 0x3c;
/** See QUOTE. */
export const EQUALS = 0x3d;
/** See QUOTE. */
export const GREATER = 0x3e;
/** See QUOTE. */
export const QUESTION = 0x3f;

const TILDE = 0x7e;

/** What a byte may be: the start of a name, part of one, of a text, of an attribute's value. */
export const NAME_START = 1;
/** See NAME_START; colons apart. */
export const NAME_PART = 2;
/** See NAME_START; without `>`, which may end `]]>`, which no text may hold. */
export const TEXT = 4;
/** See NAME_START; without line breaks and tabs, which become blanks there. */
export const VALUE = 8;

/** For each byte the sum of what it may be; 0 for all that is no ASCII, and for most controls. */
export const CLASSES: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  const isPrintable = byte >= SPACE && byte <= TILDE && byte !== LESS && byte !== AMPERSAND;
  return (
    (/[A-Za-z_]/.test(character) ? NAME_START : 0) +
    (/[A-Za-z0-9_.-]/.test(character) ? NAME_PART : 0) +
    ((isPrintable && byte !== GREATER) || byte === TAB || byte === NEWLINE ? TEXT : 0) +
    (isPrintable ? VALUE : 0)
  );
});

/** The bytes of an ASCII text, to compare with. */
export function ascii(text: string): Uint8Array {
  return Buffer.from(text, 'latin1');
}

/** Whether the bytes from `start` to before `end` are this text. */
export function isText(bytes: Uint8Array, start: number, end: number, text: Uint8Array): boolean {
  if (end - start !== text.length) return false;
  for (let i = 0; i < text.length; i++) if (bytes[start + i] !== text[i]) return false;
  return true;
}
