/** A log sentence is short; a longer text came from somebody else. */
const MOST_CHARS = 300;
const HIDDEN = '[...]';

/**
 * Makes a sentence safe for a log (persona daemon, contract 8). The result is one line, cut, without possible secrets. Text
 * between quotes is removed too, because programs quote the text that they could not read. `secrets` are those this process
 * holds.
 */
export function scrubText(text: string, secrets: readonly string[] = []): string {
  let plain = text;
  for (const secret of secrets) if (secret !== '') plain = plain.replaceAll(secret, HIDDEN);
  return plain
    .replace(/\S*\bnot valid JSON\b.*|.*\bin JSON at position\b.*/s, 'not valid JSON')
    .replace(/["'`“”‘’][\s\S]*["'`“”‘’]/u, HIDDEN) // from the first quote to the last: a text may contain quotes
    .replace(/["'`“”‘’][\s\S]*$/u, HIDDEN) // a quote that is never closed, as in a text that was cut
    .replace(/\b(bearer|basic)\s+\S+/gi, `$1 ${HIDDEN}`)
    .replace(/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/?#]*@/gi, '$1')
    .replace(/\b([a-z][a-z0-9+.-]*:\/\/[^\s?#]*)[?#]\S*/gi, '$1')
    .replace(/\b(token|password|secret|authorization|api[_-]?key)(\s*[=:]\s*)\S+/gi, `$1$2${HIDDEN}`)
    .replace(/\b[0-9a-f]{24,}\b|\b[A-Za-z0-9_-]{40,}\b/gi, HIDDEN)
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
    .slice(0, MOST_CHARS)
    .trim();
}

/** Formats an error for the log: its name, code and message, scrubbed. */
export function formatScrubbedError(error: unknown, secrets: readonly string[] = []): string {
  if (!(error instanceof Error)) return 'something that is no Error was thrown';
  if (error instanceof SyntaxError) return 'SyntaxError: what was read is not what it must be';
  const code = 'code' in error && typeof error.code === 'string' ? `${error.code}: ` : '';
  return scrubText(`${error.name}: ${code}${error.message}`, secrets);
}
