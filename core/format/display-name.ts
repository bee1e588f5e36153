/**
 * Characters that a reader cannot see, or that move or hide the characters beside them: controls, format characters
 * such as bidirectional overrides and zero-width spaces, fillers, variation selectors, line and paragraph separators.
 */
const UNSEEN = '[\\p{Cc}\\p{Cf}\\p{Default_Ignorable_Code_Point}\\u2028\\u2029]';

let unseen: RegExp | null = null;

/**
 * Replaces each character of `UNSEEN`. Written as literals, this expression and the one of joining letters would take two milliseconds of
 * every start: V8 checks literals when it reads a file. Most texts need neither.
 */
function replaceUnseen(text: string, replace: (char: string, at: number) => string): string {
  unseen ??= new RegExp(UNSEEN, 'gu');
  return text.replace(unseen, replace);
}

/** Matches most names, which need no change. */
const PLAIN = /^[ -~]*$/;

/** Matches most JSON. */
const PLAIN_JSON = /^[\n\r\t -~]*$/;

/**
 * Formats foreign text as one line in which every character is visible. A control or invisible character is shown by
 * its number (`ada\u200b`), so two names that look alike are the same name. Joiners that shape a letter or an emoji
 * stay. Every surface shows names this way: page, menu, banner, terminal, metrics.
 */
export function displayName(name: string): string {
  if (PLAIN.test(name)) return name;
  const text = name.toWellFormed();
  return replaceUnseen(text, (char, at) => (isShapingCharacter(char, text, at) ? char : escapeCharacter(char)));
}

/** Formats a text of several lines like `displayName`, but keeps line ends and tabs. */
export function displayText(text: string): string {
  return text.replace(/[^\r\n\t]+/g, displayName);
}

/** Formats a preview on one line: white space, line ends included, becomes one blank; the rest is as in `displayName`. */
export function displayLine(text: string): string {
  return displayName(text.replace(/\s+/gu, ' ').trim());
}

/** Removes what a reader cannot see, for places without room for numbers: banners and menu rows. */
export function stripUnseen(text: string): string {
  if (PLAIN.test(text)) return text;
  const whole = text.toWellFormed();
  return replaceUnseen(whole, (char, at) => (isShapingCharacter(char, whole, at) ? char : ''));
}

/** Returns the same JSON value, with every character escaped that a terminal acts on or a reader cannot see. */
export function displayJson(json: string): string {
  if (PLAIN_JSON.test(json)) return json;
  return replaceUnseen(json, (char, at) =>
    char === '\n' || char === '\t' || char === '\r' || isShapingCharacter(char, json, at) ? char : escapeUnits(char),
  );
}

/** Returns whether an invisible character shapes its neighbours, as a joiner in Persian or in a family of emoji does. */
function isShapingCharacter(char: string, text: string, at: number): boolean {
  const before = findPreviousCharacter(text, at);
  const after = findNextCharacter(text, at + char.length);
  switch (char) {
    case '\u200c':
      return isJoiningLetter(before) && isJoiningLetter(after);
    case '\u200d':
      return (
        (isJoiningLetter(before) && isJoiningLetter(after)) ||
        (isEmojiPart(before) && /\p{Extended_Pictographic}/u.test(after))
      );
    case '\ufe0e':
    case '\ufe0f':
      return /\p{Extended_Pictographic}/u.test(before) || (/[#*0-9]/.test(before) && after === '\u20e3');
    default:
      return isFlagTag(text, at);
  }
}

/** Scripts whose letters change their shape beside a joiner or a non-joiner. */
const JOINING_SCRIPTS = `
  Arabic Syriac Nko Mongolian Mandaic Adlam Hanifi_Rohingya Devanagari Bengali Gurmukhi
  Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala Khmer Myanmar Tibetan
`;

let joining: RegExp | null = null;

function isJoiningLetter(char: string): boolean {
  joining ??= new RegExp(JOINING_SCRIPTS.trim().replace(/\S+/g, '\\p{scx=$&}').replace(/\s+/g, '|'), 'u');
  return joining.test(char);
}

const isEmojiPart = (char: string): boolean => /\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f/u.test(char);

/** Returns whether the character is part of the flag of England, Scotland or Wales: a black flag and invisible letters. */
function isFlagTag(text: string, at: number): boolean {
  const start = Math.max(0, at - 14);
  const flags = /\u{1f3f4}[\u{e0061}-\u{e007a}]{2,6}\u{e007f}/gu;
  const near = text.slice(start, at + 16).matchAll(flags);
  return [...near].some(({ index, 0: flag }) => at > start + index && at < start + index + flag.length);
}

function findPreviousCharacter(text: string, at: number): string {
  const before = text.slice(Math.max(0, at - 2), at);
  return [...before].at(-1) ?? '';
}

function findNextCharacter(text: string, at: number): string {
  return at >= text.length ? '' : String.fromCodePoint(text.codePointAt(at) ?? 0);
}

function escapeCharacter(char: string): string {
  const code = (char.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
}

/** Escapes as UTF-16 units, because JSON has no `\u{...}`. */
function escapeUnits(char: string): string {
  return Array.from({ length: char.length }, (_, at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, '0')}`).join(
    '',
  );
}
