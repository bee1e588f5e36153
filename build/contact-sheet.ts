import { BADGES, PANELS, STATES } from './icon-svg.ts';

const DARK = '#303030';
const LIGHT = '#f4f3f1';
const GAP = 10;

/** Every rendered PNG in its own pixels, on the grey of dark and of light panels, as one SVG. */
export function buildContactSheet(files: ReadonlyMap<string, Buffer>): string {
  const parts: string[] = [];
  const width = 44 * BADGES.length + GAP * (BADGES.length + 1);
  let y = 0;
  const row = (background: string, size: number, names: readonly string[]): void => {
    parts.push(`<rect y="${y}" width="${width}" height="${size + GAP}" fill="${background}"/>`);
    names.forEach((name, column) => {
      const x = GAP + column * (44 + GAP) + (44 - size) / 2;
      const data = files.get(name)?.toString('base64');
      parts.push(
        `<image x="${x}" y="${y + GAP / 2}" width="${size}" height="${size}" href="data:image/png;base64,${data}"/>`,
      );
    });
    y += size + GAP;
  };
  for (const background of [DARK, LIGHT]) {
    for (const state of STATES) {
      for (const size of [44, 32, 22, 16]) {
        row(
          background,
          size,
          BADGES.map((badge) => `${size}/${state}-${badge}.png`),
        );
      }
    }
  }
  for (const panel of PANELS) {
    for (const state of STATES) {
      for (const size of [32, 22]) {
        row(
          panel === 'dark' ? DARK : LIGHT,
          size,
          BADGES.map((badge) => `${panel}/${size}/${state}-${badge}.png`),
        );
      }
    }
  }
  row(
    LIGHT,
    32,
    STATES.map((state) => `macos/${state}.png`),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${y}">${parts.join('')}</svg>`;
}
