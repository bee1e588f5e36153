import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import type { IconName } from './model.ts';

const SIZES = [22, 32, 44] as const;

/** The colour of the panel. `auto` suits both, because the icon then has a ring that separates it from the panel. */
export type IconTheme = 'auto' | 'light' | 'dark';

/** Reads the pre-rendered icons, each once, when it is first shown. */
export interface TrayIcons {
  /** For a StatusNotifierItem, in 22, 32 and 44 px. */
  pixmaps(icon: IconName): readonly Pixmap[];
  /** In 44 px. */
  png(icon: IconName): Buffer;
  /** In 16, 20, 24 and 32 px. */
  ico(icon: IconName): Buffer;
  /** For macOS: alpha only, without a badge. */
  template(icon: IconName): Buffer;
}

/**
 * Opens the icons in `folder`, which is assets/icons. The theme is for Linux: macOS colours its template itself, and on Windows
 * the icon is visible on both. Reading throws what node:fs throws when a file is missing.
 */
export function openIcons(folder: string, theme: IconTheme = 'auto'): TrayIcons {
  const read = (name: string): Buffer => readFileSync(join(folder, name));
  const themed = (name: string): Buffer => read(theme === 'auto' ? name : `${theme}/${name}`);
  const toIconFile = ({ state, badge }: IconName): string => `${state}-${badge}`;
  const cache = new Map<string, readonly Pixmap[]>();
  return {
    pixmaps: (icon) => {
      const name = toIconFile(icon);
      const known = cache.get(name);
      if (known !== undefined) return known;
      const pixmaps = SIZES.map((size) => parsePixmap(themed(`${size}/${name}.png`)));
      cache.set(name, pixmaps);
      return pixmaps;
    },
    png: (icon) => themed(`44/${toIconFile(icon)}.png`),
    ico: (icon) => read(`windows/${toIconFile(icon)}.ico`),
    template: ({ state }) => read(`macos/${state}.png`),
  };
}

/** One image in the form of a StatusNotifierItem. */
interface Pixmap {
  readonly width: number;
  readonly height: number;
  /** ARGB32, not premultiplied, network byte order. */
  readonly argb: Buffer;
}

/**
 * Reads a PNG of our own build (8-bit RGBA, no row filters, not interlaced; see build/icons.ts).
 * @throws RangeError for any other PNG
 */
function parsePixmap(png: Buffer): Pixmap {
  const width = png.readUInt32BE(16);
  const height = png.readUInt32BE(20);
  if (png.readUInt32BE(24) !== 0x08060000) throw new RangeError('the icon is not an 8-bit RGBA PNG');
  const data: Buffer[] = [];
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') data.push(png.subarray(at + 8, at + 8 + length));
    at += length + 12;
  }
  const rows = inflateSync(Buffer.concat(data));
  const argb = Buffer.alloc(width * height * 4);
  const stride = width * 4 + 1;
  for (let y = 0; y < height; y += 1) {
    if (rows[y * stride] !== 0) throw new RangeError('the icon has row filters; render it again');
    for (let x = 0; x < width; x += 1) {
      const from = y * stride + 1 + x * 4;
      const rgba = rows.readUInt32BE(from);
      argb.writeUInt32BE(((rgba >>> 8) | (rgba << 24)) >>> 0, (y * width + x) * 4);
    }
  }
  return { width, height, argb };
}
