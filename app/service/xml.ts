import { requireSingleLine } from './service-program.ts';

/** Escapes the text of an XML element to ASCII, so that no reader can mistake its encoding. */
export function escapeXml(text: string): string {
  return requireSingleLine(text)
    .toWellFormed()
    .replace(/[^\x20-\x7e]|[&<>"]/gu, (char) => `&#${char.codePointAt(0)};`);
}

/** Does the same for a comment, which must not contain two hyphens. */
export function formatXmlComment(text: string): string {
  return `<!-- ${escapeXml(text).replaceAll('--', '-&#45;')} -->`;
}

const UTF16 = '<?xml version="1.0" encoding="UTF-16"?>';

/** Encodes a file as it declares itself: XML that says UTF-16 gets a byte order mark, everything else is UTF-8. */
export function encodeText(text: string): Uint8Array {
  return text.startsWith(UTF16) ? Buffer.from(`\ufeff${text}`, 'utf16le') : Buffer.from(text, 'utf8');
}

/** Decodes such a file, without its byte order mark. */
export function decodeText(bytes: Uint8Array): string {
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  return new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8').decode(bytes);
}
