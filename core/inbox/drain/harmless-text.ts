/**
 * Text of others, spelled so that nothing in it can end the frame it is shown in (inbox and gates, contract 3.11): no
 * `<` is left, no spelling of one that a reader could take for it, nothing invisible, nothing that reorders a line.
 *
 * `&lt;` and `&amp;` stand for `<` and `&`; `\u001b` for the character with that number. Line breaks and tabs stay.
 */
export interface HarmlessText {
  readonly text: string;
  /** How many UTF-16 units of the original it stands for: all of them, unless there was no room. */
  readonly sourceLength: number;
}

/** As much of `raw` as fits into `room` UTF-16 units, in whole code points. */
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

/** A name, as what stands between the quotes of an attribute: `most` code points of it. */
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

/** What a reader could decode into another `<`. */
const ENTITY = /&(?=#|lt|gt|amp|[a-z][a-z0-9]{1,30};)/iy;
/** The same letter as `<` to whoever normalises what it reads. */
const SAME_LETTER = /[\ufe64\uff1c\u226e]/;
/** Hidden and wanted: they join and part letters, and choose how an emoji is drawn. */
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

// Made when they are first used: to read what they name of Unicode is a millisecond of the start of a hook.
const isHidden = (char: string): boolean => /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029]/u.test(char);

/** A sign that looks like `<`, where what looks like the slash of a closing tag follows. */
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
