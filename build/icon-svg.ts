import { DIGITS } from './digits.ts';

export const STATES = ['up', 'down', 'paused', 'unknown'] as const;
export const BADGES = ['none', 'ask', '1', '2', '3', '4', '5', '6', '7', '8', '9', '9+'] as const;

/** Panels of which it is known how light they are. */
export const PANELS = ['light', 'dark'] as const;
export type Panel = (typeof PANELS)[number];

interface Paint {
  readonly body: string;
  readonly ring: string;
  readonly ink: string;
}

/**
 * The sources are drawn for any panel: a ring sets each off from a light and from a dark one. Where the panel is known
 * the body takes the place of the ring, and the plain cell is as dark or as light as the other icons beside it.
 */
const PAINTS: Readonly<Record<Panel, Readonly<Record<(typeof STATES)[number], Paint>>>> = {
  light: {
    up: { body: '#2b2f36', ring: '#2b2f36', ink: '#fff' },
    down: { body: '#d3261b', ring: '#d3261b', ink: '#fff' },
    paused: { body: '#626b78', ring: '#626b78', ink: '#fff' },
    unknown: { body: '#fff', ring: '#626b78', ink: '#2b2f36' },
  },
  dark: {
    up: { body: '#fff', ring: '#fff', ink: '#16191d' },
    down: { body: '#d3261b', ring: '#fff', ink: '#fff' },
    paused: { body: '#626b78', ring: '#fff', ink: '#fff' },
    unknown: { body: '#c9ced6', ring: '#c9ced6', ink: '#16191d' },
  },
};

/** The source of a state, painted for a panel. */
export function paintIcon(panel: Panel, state: (typeof STATES)[number], source: string): string {
  const { body, ring, ink } = PAINTS[panel][state];
  return source.replace(/<g id="([\w-]+)"[^>]*>.*?<\/g>/gs, (part, id: string) =>
    id === 'body'
      ? part.replace(/fill="#\w+"/g, `fill="${body}"`).replace(/stroke="#\w+"/g, `stroke="${ring}"`)
      : part.replace(/#[0-9a-f]{6}|#[0-9a-f]{3}/gi, ink),
  );
}

/** All of one size's measures, in pixels of that size, so that small sizes get a proportionally larger badge. */
interface BadgeLayout {
  readonly height: number;
  readonly digit: number;
  readonly stroke: number;
  readonly gap: number;
}

function computeBadgeLayout(size: number): BadgeLayout {
  if (size <= 16) return { height: 10, digit: 7, stroke: 1.4, gap: 0.8 };
  if (size <= 20) return { height: 12, digit: 8, stroke: 1.5, gap: 1 };
  if (size <= 22) return { height: 13, digit: 9, stroke: 1.6, gap: 1 };
  if (size <= 24) return { height: 14, digit: 9, stroke: 1.7, gap: 1 };
  if (size <= 32) return { height: 18, digit: 12, stroke: 2.2, gap: 1.3 };
  const k = size / 44;
  return { height: 24 * k, digit: 15.5 * k, stroke: 2.9 * k, gap: 1.8 * k };
}

const FILL = '#1556c4';
/** A person is asked something: a speech bubble instead of a pill, so that it differs in shape too, and not the mark of `unknown`. */
const ASK = { text: '!', fill: '#8a1f9c' } as const;
/** How much of the height of the bubble its tail takes. */
const TAIL = 0.2;

/**
 * One icon at one size. `source` is the state's SVG of 44 x 44 with the groups `body`, `glyph` and `glyph-badged`: what
 * stands on the body without and with a badge. A gap in the body sets the badge off on any background.
 */
export function buildIconSvg(source: string, badge: string, size: number): string {
  const k = size / 44;
  const body = extractGroup(source, 'body');
  if (badge === 'none') return wrapSvg(size, `<g transform="scale(${k})">${body}${extractGroup(source, 'glyph')}</g>`);
  const layout = computeBadgeLayout(size);
  const isAsk = badge === 'ask';
  const b = isAsk ? { ...layout, stroke: layout.stroke * 1.2 } : layout;
  const text = layOutText(isAsk ? ASK.text : badge, b);
  const fill = isAsk ? ASK.fill : FILL;
  const width = Math.min(size, Math.max(b.height, Math.round(text.width + b.height * 0.36)));
  const [x, y] = [size - width, size - b.height];
  const pill = (grow: number, colour: string): string =>
    isAsk
      ? `<path d="${drawBubble(x, y, width, b.height)}" fill="${colour}" stroke="${colour}" stroke-width="${2 * grow}" stroke-linejoin="round"/>`
      : `<rect x="${x - grow}" y="${y - grow}" width="${width + 2 * grow}" height="${b.height + 2 * grow}" rx="${b.height / 2 + grow}" fill="${colour}"/>`;
  const cutout = `<mask id="hole"><rect width="${size}" height="${size}" fill="#fff"/>${pill(b.gap, '#000')}</mask>`;
  const digits = `<g transform="translate(${x + (width - text.width) / 2} ${y + (b.height * (isAsk ? 1 - TAIL : 1) - b.digit) / 2})" fill="none" stroke="#fff" stroke-width="${b.stroke}" stroke-linecap="round" stroke-linejoin="round">${text.paths}</g>`;
  return wrapSvg(
    size,
    `${cutout}<g mask="url(#hole)"><g transform="scale(${k})">${body}${extractGroup(source, 'glyph-badged')}</g></g>${pill(0, fill)}${digits}`,
  );
}

/** A rounded box with a tail at its lower left, as one path. */
function drawBubble(x: number, y: number, width: number, height: number): string {
  const bottom = height * (1 - TAIL);
  const r = height * 0.28;
  const tail = width * 0.3;
  return `M${x + r} ${y}h${width - 2 * r}a${r} ${r} 0 0 1 ${r} ${r}v${bottom - 2 * r}a${r} ${r} 0 0 1 ${-r} ${r}h${r - width + tail + r}L${x + r * 0.7} ${y + height}V${y + bottom}A${r} ${r} 0 0 1 ${x} ${y + bottom - r}V${y + r}a${r} ${r} 0 0 1 ${r} ${-r}Z`;
}

/** For macOS: black with holes; the system colours it. The number stands beside it as the title, so there is no badge. */
export function buildTemplateSvg(source: string, size: number): string {
  const black = (part: string): string => part.replace(/#[0-9a-f]{6}|#[0-9a-f]{3}/gi, '#000');
  const cutout = `<mask id="hole"><rect width="44" height="44" fill="#fff"/>${black(extractGroup(source, 'glyph'))}</mask>`;
  return wrapSvg(
    size,
    `${cutout}<g transform="scale(${size / 44})"><g mask="url(#hole)">${black(extractGroup(source, 'body'))}</g></g>`,
  );
}

function layOutText(text: string, b: BadgeLayout): { width: number; paths: string } {
  const scale = (b.digit - b.stroke) / 12;
  const space = text.length > 1 ? 0.4 * b.stroke : 0;
  let x = 0;
  const paths: string[] = [];
  for (const c of text) {
    const digit = DIGITS[c];
    if (digit === undefined) throw new Error(`no drawing of "${c}"`);
    const left = x + b.stroke / 2 - scale;
    paths.push(
      `<path transform="translate(${left} ${b.stroke / 2 - scale}) scale(${scale})" stroke-width="${b.stroke / scale}" d="${digit.d}"/>`,
    );
    x += (digit.width - 2) * scale + b.stroke + space;
  }
  return { width: x - space, paths: paths.join('') };
}

function extractGroup(source: string, id: string): string {
  const found = new RegExp(`<g id="${id}"[^>]*>(.*?)</g>`, 's').exec(source)?.[1];
  if (found === undefined) throw new Error(`the source has no group "${id}"`);
  return found;
}

function wrapSvg(size: number, content: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}" viewBox="0 0 ${size} ${size}">${content}</svg>`;
}
