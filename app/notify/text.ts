import { stripUnseen } from '../../core/format/index.ts';

/** How many code points of a mail's text a banner shows. */
export const BODY_POINTS = 200;
/** Names and senders are cut shorter, so that the count after them stays on the screen. */
export const NAME_POINTS = 60;

const ESC = String.fromCharCode(0x1b);

/** ECMA-48: control sequences, control strings up to their end (BEL ends one too), and the short escapes. */
const TERMINAL = new RegExp(
  `${ESC}(?:\\[[0-?]*[ -/]*[@-~]|[\\]PX^_][^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\)?|[ -/]+[0-~]|[0-OQ-WYZ\\\\\`-~])`,
  'gu',
);

/** Letters of scripts that run from right to left. */
const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}\p{Script=Samaritan}\p{Script=Mandaic}\p{Script=Hanifi_Rohingya}]/u;

/**
 * Converts untrusted text to one line of at most `points` code points. Terminal sequences and invisible characters are removed,
 * each run of white space becomes one blank, and lone surrogates are replaced. A cut text ends in an ellipsis and is never cut
 * inside a code point.
 */
export function toSingleLine(text: string, points: number): string {
  // Long input is cut first, since the rest can never be shown and a mail may be a megabyte.
  const near = text.slice(0, points * 16).toWellFormed();
  const spaced = near.replace(TERMINAL, '').replace(/[\s\u0085]+/gu, ' ');
  const line = stripUnseen(spaced)
    .replace(/ {2,}/g, ' ') // text between two blanks may have been removed
    .trim();
  const characters = [...line];
  const cut = near.length < text.length && text.length > points * 16;
  if (characters.length <= points && !cut) return line;
  return `${characters
    .slice(0, points - 1)
    .join('')
    .replace(/[ \u200d]+$/u, '')}…`;
}

/**
 * Isolates a cleaned text that stands beside others, if it has letters that run from right to left (FIRST STRONG ISOLATE ... POP
 * DIRECTIONAL ISOLATE, UAX #9). Then only the text is reordered, and not the name or number next to it.
 */
export function isolate(line: string): string {
  return RIGHT_TO_LEFT.test(line) ? `\u2068${line}\u2069` : line;
}

/** How many code points a text has. */
export function countPoints(text: string): number {
  return [...text].length;
}

/**
 * Escapes plain text for a field that the desktop reads as markup. That is only the `body`, for a notification daemon with the
 * capability `body-markup` (Desktop Notifications 1.2, "Markup"); the summary is never markup.
 */
export function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/**
 * Makes text safe as the value of a command-line option. The program may take a leading `-` for another option, or a leading
 * bracket or quote for a property list (macOS user defaults). An invisible first character makes it plain text.
 */
export function escapeArgument(text: string): string {
  return /^[-([{<"'\\@/]/u.test(text) ? `\u200b${text}` : text;
}
