import { displayName, stripUnseen } from '../../core/format/index.ts';

/** Terminal sequences: what follows the escape character would stay behind as litter. */
const SEQUENCES = new RegExp(
  `${String.fromCharCode(0x1b)}(?:\\[[0-?]*[ -/]*[@-~]|\\][^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\)?)`,
  'gu',
);

/** Marks piled upon one letter would be drawn across the rows above and below. */
const PILE = /(\p{M}{3})\p{M}+/gu;

/** Letters that are read from right to left, and with them the row around them. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
/** The mark before it is for renderers that take the direction of the whole row from the first letter, however enclosed. */
const ISOLATE = '\u200e\u2068';
const ISOLATE_ENDS = '\u2069';

/** What most text is: words of printable ASCII with one blank between them. It is fit as it stands. */
const PLAIN = /^[!-~]+(?: [!-~]+)*$/;

/** Nothing beyond this is looked at; a mail may be a megabyte. */
const SCAN_FACTOR = 16;

/** A name as a menu row: as `formatRowText`, and what nobody sees is shown by its number, since two names must not look alike. */
export function formatRowName(name: string, most: number): string {
  return formatRowText(name, most) === '' ? '' : formatRowText(displayName(name.slice(0, most * SCAN_FACTOR)), most);
}

/**
 * Text of others made fit for one menu row: one line, nothing invisible, at most `most` characters with a `…` when cut.
 * Text that runs from right to left is closed in by itself, so that what stands beside it stays where it is.
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
