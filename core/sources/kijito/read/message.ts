import type { Message } from '../../source.ts';
import { cut, formatJson, sanitizeText } from '../../text.ts';
import type { RawMessage } from './page.ts';

/**
 * A row as far as Hivebar keeps it. `contentChars` cuts the content to so many code points, null leaves it out. A lone
 * surrogate or NUL anywhere would wedge a spawn or a file write later (Kijito contract, trap 8), so both go here.
 */
export function toMessage({ id, fields }: RawMessage, contentChars: number | null): Message {
  return {
    id,
    from: cleanText(fields.from),
    created: cleanText(fields.created),
    content: contentChars === null ? null : cut(cleanText(fields.content), contentChars),
    read: fields.read === true,
  };
}

/** Text is itself, nothing is nothing, anything else is its JSON (D18), or a placeholder. */
function cleanText(value: unknown): string {
  const text = typeof value === 'string' ? value : value === null || value === undefined ? '' : formatJson(value);
  return sanitizeText(text);
}
