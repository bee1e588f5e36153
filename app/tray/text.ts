import { displayName, stripUnseen } from '../../core/format/index.ts';

/** Terminal sequences. If only the escape character were removed, the rest would remain as garbage. */
const SEQUENCES = new RegExp(
  `${String.fromCharCode(0x1b)}(?:\\[[0-?]*[ -/]*[@-~]|\\][^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\)?)`,
  'gu',
);

/** Many marks on one letter would be drawn across the rows above and below. */
const PILE = /(\p{M}{3})\p{M}+/gu;

/** Letters that are read from right to left, and that would turn the row around them. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
/**
 * The mark before the isolate is for renderers that take the direction of the row from its first letter, even inside an isolate.
 */
const ISOLATE = '\u200e\u2068';
const ISOLATE_ENDS = '\u2069';

/** Matches most texts: words of printable ASCII with one blank between them. They need no change. */
const PLAIN = /^[!-~]+(?: [!-~]+)*$/;

/** Only this part of a text is read, because a mail may be a megabyte. */
const SCAN_FACTOR = 16;

/**
 * Formats a name for a menu row, like `formatRowText`. Invisible characters are shown by their number, since two names must not
 * look alike.
 */
export function formatRowName(name: string, most: number): string {
  return formatRowText(name, most) === '' ? '' : formatRowText(displayName(name.slice(0, most * SCAN_FACTOR)), most);
}

/**
 * Formats untrusted text for one menu row: one line, no invisible characters, at most `most` characters, with a `…` when cut.
 * Text that runs from right to left is isolated, so that its neighbours stay in place.
 */
export function formatRowText(text: string, most: number): string {
  const near = text.slice(0, most * SCAN_FACTOR);
  if (PLAIN.test(near)) return text.length <= most ? text : `${near.slice(0, most - 1).trimEnd()}…`;
  const spaced = near
    .toWellFormed()
    .replace(SEQUENCES, '')
    .replace(/[\s\p{Cc}]+/gu, ' ');
  const line = stripUnseen(spaced).replace(PILE, '$1').replace(/ {2,}/g, ' ').trim();
  const characters = [...line];
  const whole = characters.length <= most && near.length === text.length;
  const cutText = whole
    ? line
    : `${characters
        .slice(0, most - 1)
        .join('')
        .trimEnd()}…`;
  return RIGHT_TO_LEFT.test(cutText) ? `${ISOLATE}${cutText}${ISOLATE_ENDS}` : cutText;
}
