/**
 * Text of others, escaped so that it cannot end the frame around it (inbox and gates, contract 3.11). The result has no `<`,
 * nothing that a reader could take for `<`, nothing invisible, and nothing that reorders a line.
 *
 * `&lt;` and `&amp;` stand for `<` and `&`; `\u001b` for the character with that number. Line breaks and tabs stay.
 */
export interface HarmlessText {
  readonly text: string;
  /** How many UTF-16 units of the original are covered: all of them, unless there was no room. */
  readonly sourceLength: number;
}

/** Escapes as much of `raw` as fits into `room` UTF-16 units, in whole code points. */
export function toHarmless(raw: string, room: number): HarmlessText {
  let text = '';
  let sourceLength = 0;
  for (const char of raw) {
    const next = spellCharacter(char, raw, sourceLength);
    if (text.length + next.length > room) break;
    text += next;
    sourceLength += char.length;
  }
  return { text, sourceLength };
}

/** Escapes a name for use between the quotes of an attribute, at most `most` code points of it. */
export function toHarmlessName(raw: string, most: number): string {
  const head = [...raw.slice(0, most * 2 + 1)].slice(0, most).join('');
  const { text } = toHarmless(head, Number.POSITIVE_INFINITY);
  const inOne = text
    .replaceAll('"', "'")
    .replaceAll('>', '&gt;')
    .replaceAll('\n', '\\u000a')
    .replaceAll('\t', '\\u0009');
  return head.length < raw.length ? `${inOne}...` : inOne;
}

/** Character references that a reader could decode into `<`. */
const ENTITY = /&(?=#|lt|gt|amp|[a-z][a-z0-9]{1,30};)/iy;
/** Characters that become `<` when a reader normalizes the text. */
const SAME_LETTER = /[\ufe64\uff1c\u226e]/;
/** Invisible characters that are allowed: they join or separate letters, and choose how an emoji is drawn. */
const ALLOWED_HIDDEN: ReadonlySet<string> = new Set(['\n', '\t', '\u200c', '\u200d', '\ufe0e', '\ufe0f']);

function spellCharacter(char: string, raw: string, at: number): string {
  if (char === '<') return '&lt;';
  if (char === '&') return startsAt(ENTITY, raw, at) ? '&amp;' : char;
  if (char === '\r' && raw[at + 1] === '\n') return '';
  if (!char.isWellFormed()) return '\ufffd';
  if (char < '\u007f' && char >= ' ') return char;
  const isWrong = SAME_LETTER.test(char) || (isHidden(char) && !ALLOWED_HIDDEN.has(char)) || looksLikeClosing(raw, at);
  return isWrong ? spellByNumber(char) : char;
}

// The expressions are created at first use, because their Unicode classes cost a millisecond at the start of a hook.
const isHidden = (char: string): boolean => /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029]/u.test(char);

/** Whether a character that looks like `<` is followed by one that looks like the slash of a closing tag. */
function looksLikeClosing(text: string, at: number): boolean {
  return startsAt(
    /[\u02c2\u1438\u1daf\u2039\u226e\u22d6\u27e8\u276e\u2770\u2329\u29fc\u3008\u300a\ua4f4][\s\p{M}\p{Cf}\p{Default_Ignorable_Code_Point}]{0,40}[/\\\u2044\u2215\u2571\u29f5\u29f8\uff0f\uff3c]/uy,
    text,
    at,
  );
}

function startsAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}

function spellByNumber(char: string): string {
  const code = (char.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
}
