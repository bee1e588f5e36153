import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, constants, inflateSync } from 'node:zlib';
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

/**
 * The file of all images, below assets/icons, compressed as one, because they are much alike: it is a third of their sum. To read it takes
 * some 4 ms, once for each icon that is shown.
 */
export const ICON_PACK = 'icons.br';

/**
 * Opens the icons in `folder`, which is assets/icons. The theme is for Linux: macOS colours its template itself, and on Windows
 * the icon is visible on both. Reading throws what node:fs throws when the file is missing.
 */
export function openIcons(folder: string, theme: IconTheme = 'auto'): TrayIcons {
  const read = openIconPack(join(folder, ICON_PACK));
  const themed = (name: string): string => (theme === 'auto' ? name : `${theme}/${name}`);
  const readOne = (name: string): Buffer => read(name)[0] as Buffer;
  const toIconFile = ({ state, badge }: IconName): string => `${state}-${badge}`;
  const cache = new Map<string, readonly Pixmap[]>();
  return {
    pixmaps: (icon) => {
      const name = toIconFile(icon);
      const known = cache.get(name);
      if (known !== undefined) return known;
      const pixmaps = read(...SIZES.map((size) => themed(`${size}/${name}.png`))).map(parsePixmap);
      cache.set(name, pixmaps);
      return pixmaps;
    },
    png: (icon) => readOne(themed(`44/${toIconFile(icon)}.png`)),
    ico: (icon) => readOne(`windows/${toIconFile(icon)}.ico`),
    template: ({ state }) => readOne(`macos/${state}.png`),
  };
}

/**
 * Formats images, by name, as the file that `openIconPack` reads: the length of the index, the index as JSON, and the images,
 * compressed together.
 */
export function formatIconPack(images: ReadonlyMap<string, Buffer>): Buffer {
  let at = 0;
  const places = [...images].map(([name, { length }]) => {
    at += length;
    return [name, [at - length, length]] as const;
  });
  const index = Buffer.from(JSON.stringify(Object.fromEntries(places)));
  const head = Buffer.alloc(LENGTH_BYTES);
  head.writeUInt32BE(index.length);
  const params = { [constants.BROTLI_PARAM_QUALITY]: QUALITY };
  return brotliCompressSync(Buffer.concat([head, index, ...images.values()]), { params });
}

const LENGTH_BYTES = 4;
/** The best one takes a hundred times as long for a twentieth less. */
const QUALITY = 9;

/** Start, from the end of the index, and length of each image in bytes. */
type IconIndex = Readonly<Record<string, readonly [number, number]>>;

/** Returns what reads images. The file is read and decompressed for each call, so that its million bytes do not stay in memory. */
function openIconPack(path: string): (...names: readonly string[]) => readonly Buffer[] {
  return (...names) => {
    const pack = decompress(path);
    const end = LENGTH_BYTES + pack.readUInt32BE();
    const places = parseJson(pack.subarray(LENGTH_BYTES, end).toString()) as IconIndex;
    return names.map((name) => {
      const [from, length] = places[name] ?? [];
      if (from === undefined || length === undefined) throw new RangeError(`${path} has no image ${name}`);
      return Buffer.from(pack.subarray(end + from, end + from + length)); // a copy, which does not keep the others
    });
  };
}

function decompress(path: string): Buffer {
  const bytes = readFileSync(path);
  try {
    return brotliDecompressSync(bytes);
  } catch (cause) {
    throw new RangeError(`${path} is damaged: render the icons again, or install Hivebar again`, { cause });
  }
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
