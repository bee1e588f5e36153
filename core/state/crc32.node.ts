type Sum = (content: string | Uint8Array) => number;

/**
 * Node's own function needs `zlib`, which takes milliseconds to load. That is too much for a hook that reads a few messages, and
 * nothing for a process that works on. So the first bytes of a process are summed here, and all others by Node.
 */
const SUMMED_HERE = 64 * 1024;

let summed = 0;
let native: Sum | null = null;

/** The CRC-32 of bytes, or of a text in UTF-8, as zlib, gzip and PNG define it. */
export function crc32(content: string | Uint8Array): number {
  if (native !== null) return native(content);
  summed += content.length;
  if (summed <= SUMMED_HERE) return computeByTable(content);
  native = process.getBuiltinModule('node:zlib').crc32;
  return native(content);
}

const POLYNOMIAL = 0xedb88320;
let table: Int32Array | null = null;

/** Computes the same sum with a lookup table per byte. */
export function computeByTable(content: string | Uint8Array): number {
  table ??= buildTable();
  const bytes = typeof content === 'string' ? Buffer.from(content, 'utf8') : content;
  let sum = -1;
  for (const byte of bytes) sum = (sum >>> 8) ^ (table[(sum ^ byte) & 0xff] as number);
  return ~sum >>> 0;
}

function buildTable(): Int32Array {
  return Int32Array.from({ length: 256 }, (_, byte) => {
    let sum = byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum & 1) === 1 ? (sum >>> 1) ^ POLYNOMIAL : sum >>> 1;
    return sum;
  });
}
