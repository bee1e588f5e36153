import { requireSingleLine } from './service-program.ts';

/** Text of an XML element, in ASCII alone, so that no reader can be wrong about the encoding. */
export function escapeXml(text: string): string {
  return requireSingleLine(text)
    .toWellFormed()
    .replace(/[^\x20-\x7e]|[&<>"]/gu, (char) => `&#${char.codePointAt(0)};`);
}

/** The same for a comment, which may hold no two hyphens. */
export function formatXmlComment(text: string): string {
  return `<!-- ${escapeXml(text).replaceAll('--', '-&#45;')} -->`;
}

const UTF16 = '<?xml version="1.0" encoding="UTF-16"?>';

/** A file as it declares itself: XML that says UTF-16 has a byte order mark, everything else is UTF-8. */
export function encodeText(text: string): Uint8Array {
  return text.startsWith(UTF16) ? Buffer.from(`\ufeff${text}`, 'utf16le') : Buffer.from(text, 'utf8');
}

/** The text of such a file, without its byte order mark. */
export function decodeText(bytes: Uint8Array): string {
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  return new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8').decode(bytes);
}
