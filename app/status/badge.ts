import { displayName, formatShare } from '../../core/format/index.ts';
import type { UptimeSpan } from '../../core/history/index.ts';
import { formatNumber } from '../../ui-static/present.ts';
import { escapeMarkup } from './markup.ts';
import type { PersonaWire, UptimeWire } from './wire.ts';

/** A picture of one line: a name on grey, and a value on the colour of the state. */
interface BadgeImage {
  readonly name: string;
  readonly value: string;
  readonly color: string;
}

/** White text can be read on each of these. */
const COLORS = { good: '#2f7d3b', warning: '#8a6100', bad: '#b3362b', unknown: '#5b6673' } as const;
const NAME_CHARS = 40;

/** The state and the unread count of a persona, as `ada | up, 3 unread`. It has no sender and no text. */
export function formatStateBadge(persona: PersonaWire): string {
  const { state, reason, unread, unreadIs } = persona;
  const [word, color] =
    state === 'DOWN'
      ? (['down', COLORS.bad] as const)
      : state !== 'UP'
        ? (['not checked yet', COLORS.unknown] as const)
        : reason === null
          ? (['up', COLORS.good] as const)
          : (['failing', COLORS.warning] as const);
  // the count of an inbox that is down is an old one
  const count = unread === null || unread === 0 || state === 'DOWN' ? '' : `, ${formatNumber(unread, unreadIs)} unread`;
  return formatSvg({ name: formatBadgeName(persona), value: `${word}${count}`, color });
}

const SPAN_WORDS: Readonly<Record<UptimeSpan, string>> = { '24h': '24 h', '7d': '7 d', '30d': '30 d' };

/** The uptime of a persona, as `ada uptime 7 d | 99.95%`. */
export function formatUptimeBadge(persona: PersonaWire, uptime: UptimeWire, span: UptimeSpan): string {
  const { up } = uptime[span];
  const value = up === null ? 'unknown' : formatShare(up);
  const color = up === null ? COLORS.unknown : up >= 0.99 ? COLORS.good : up >= 0.95 ? COLORS.warning : COLORS.bad;
  return formatSvg({ name: `${formatBadgeName(persona)} uptime ${SPAN_WORDS[span]}`, value, color });
}

function formatBadgeName({ label }: PersonaWire): string {
  const name = displayName(label);
  return name.length <= NAME_CHARS ? name : `${name.slice(0, NAME_CHARS - 1).toWellFormed()}…`;
}

const HEIGHT = 20;
const PADDING = 6;

function formatSvg({ name, value, color }: BadgeImage): string {
  const [nameWidth, valueWidth] = [measureText(name), measureText(value)];
  const split = nameWidth + 2 * PADDING;
  const width = split + valueWidth + 2 * PADDING;
  const title = escapeMarkup(`${name}: ${value}`);
  const text = (words: string, x: number, length: number): string =>
    `<text x="${x}" y="14" textLength="${length}" lengthAdjust="spacingAndGlyphs">${escapeMarkup(words)}</text>`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${HEIGHT}" role="img" aria-label="${title}">`,
    `<title>${title}</title>`,
    // no clip path: it needs an id, and several badges in one page would share the first
    `<rect width="${width}" height="${HEIGHT}" rx="3" fill="${color}"/>`,
    `<path d="M3 0H${split}V${HEIGHT}H3a3 3 0 0 1-3-3V3a3 3 0 0 1 3-3z" fill="#3a424d"/>`,
    '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">',
    `${text(name, PADDING, nameWidth)}${text(value, split + PADDING, valueWidth)}</g></svg>`,
  ].join('');
}

/** About as wide as the text is at 11 pixels. The picture stretches it to just this width. */
function measureText(text: string): number {
  let width = 0;
  for (const c of text) width += c > '\u2e7f' ? 12 : /[iljtf.,:|!'()\s]/.test(c) ? 4.4 : /[A-Zmw%]/.test(c) ? 8.6 : 6.9;
  return Math.round(width);
}
