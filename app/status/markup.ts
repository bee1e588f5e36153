const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for an element or a quoted attribute of HTML or SVG. NUL, which neither can contain, becomes U+FFFD. */
export function escapeMarkup(text: string): string {
  return text.replace(/[&<>"'\0]/g, (c) => ENTITIES[c] ?? '\ufffd');
}
