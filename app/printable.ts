/** Text of others as one line that no terminal acts on: what is unsafe is shown by its number. */
export function printable(text: string): string {
  // Control characters, and those that reorder or hide what stands beside them. Made when it is first used.
  return text.toWellFormed().replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, escaped);
}

// What JSON leaves raw and a terminal would still act on.
const RAW_IN_JSON = /[\u007f-\u009f\u2028\u2029]/g;

/** A JSON text with the same meaning that no terminal acts on. */
export function printableJson(json: string): string {
  return json.replace(RAW_IN_JSON, escaped);
}

function escaped(char: string): string {
  const code = (char.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
}
