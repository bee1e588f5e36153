import type { Message } from '../../source.ts';
import { cut, formatJson, sanitizeText } from '../../text.ts';
import type { RawMessage } from './page.ts';

/**
 * A raw message reduced to what Hivebar keeps. `contentChars` cuts the content to that many code points; null leaves it out. Lone
 * surrogates and NUL would break a spawn or a file write later (Kijito contract, trap 8), so they are removed here.
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

/** Text stays as it is, null and undefined become empty, and any other value becomes its JSON (D18), or a placeholder. */
function cleanText(value: unknown): string {
  const text = typeof value === 'string' ? value : value === null || value === undefined ? '' : formatJson(value);
  return sanitizeText(text);
}
