import { inflateSync } from 'node:zlib';

/** One image in the form of a StatusNotifierItem. */
export interface Pixmap {
  readonly width: number;
  readonly height: number;
  /** ARGB32, not premultiplied, network byte order. */
  readonly argb: Buffer;
}

/**
 * Reads a PNG of our own build (8-bit RGBA, no row filters, not interlaced; see build/icons.ts).
 * @throws RangeError for any other PNG
 */
export function parsePixmap(png: Buffer): Pixmap {
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
