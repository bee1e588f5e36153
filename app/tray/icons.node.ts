import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { parseJson } from '../../core/model/index.ts';
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

/** The file of all images, below assets/icons. As files of their own they would take up twice their size on a disk. */
export const ICON_PACK = 'icons.bin';

/**
 * Opens the icons in `folder`, which is assets/icons. The theme is for Linux: macOS colours its template itself, and on Windows
 * the icon is visible on both. Reading throws what node:fs throws when the file is missing.
 */
export function openIcons(folder: string, theme: IconTheme = 'auto'): TrayIcons {
  const read = openIconPack(join(folder, ICON_PACK));
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

/** Formats images, by name, as the file that `openIconPack` reads: the length of the index, the index as JSON, the images. */
export function formatIconPack(images: ReadonlyMap<string, Buffer>): Buffer {
  let at = 0;
  const places = [...images].map(([name, { length }]) => {
    at += length;
    return [name, [at - length, length]] as const;
  });
  const index = Buffer.from(JSON.stringify(Object.fromEntries(places)));
  const head = Buffer.alloc(LENGTH_BYTES);
  head.writeUInt32BE(index.length);
  return Buffer.concat([head, index, ...images.values()]);
}

const LENGTH_BYTES = 4;

/** Start, from the end of the index, and length of each image in bytes. */
type IconIndex = Readonly<Record<string, readonly [number, number]>>;

/** Returns what reads one image. The index is kept, and the file is opened for each image that is asked for. */
function openIconPack(path: string): (name: string) => Buffer {
  let index: { readonly places: IconIndex; readonly end: number } | null = null;
  return (name) => {
    const fd = openSync(path, 'r');
    const read = (from: number, length: number): Buffer => {
      const bytes = Buffer.alloc(length);
      const got = readSync(fd, bytes, 0, length, from);
      if (got < length)
        throw new RangeError(`${path} ends too early: render the icons again, or install Hivebar again`);
      return bytes;
    };
    try {
      if (index === null) {
        const length = read(0, LENGTH_BYTES).readUInt32BE();
        index = { places: parseJson(read(LENGTH_BYTES, length).toString()) as IconIndex, end: LENGTH_BYTES + length };
      }
      const [from, length] = index.places[name] ?? [];
      if (from === undefined || length === undefined) throw new RangeError(`${path} has no image ${name}`);
      return read(index.end + from, length);
    } finally {
      closeSync(fd);
    }
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
