/** Compresses the helper programs of other projects for the package, as `app/helper-programs.node.ts` unpacks them. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import { COMPRESSED, DIGESTS, HELPER_PROGRAMS } from '../app/helper-programs.node.ts';

const ROOT = join(import.meta.dirname, '..');
const CACHE = join(ROOT, '.cache', 'helpers');
/** All programs take 7 s at 9. At 11 they take 90 s and are a tenth smaller. */
const QUALITY = 9;

/** Writes every file of every helper program to `out`, and the SHA-256 of each as it will be after unpacking. */
export async function buildHelpers(out: string): Promise<void> {
  const files = Object.values(HELPER_PROGRAMS).flat();
  const digests = await Promise.all(
    files.map(async (file) => {
      const bytes = readFileSync(join(ROOT, 'node_modules', file));
      const digest = createHash('sha256').update(bytes).digest('hex');
      const path = join(out, `${file}${COMPRESSED}`);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, await compress(bytes, digest));
      return [file, digest] as const;
    }),
  );
  writeFileSync(join(out, DIGESTS), `${JSON.stringify(Object.fromEntries(digests), null, 2)}\n`);
}

/** The result is kept in .cache, because the programs hardly ever change and a package is built for many tests. */
async function compress(bytes: Buffer, digest: string): Promise<Buffer> {
  const cached = join(CACHE, `${digest}-${QUALITY}${COMPRESSED}`);
  if (existsSync(cached)) return readFileSync(cached);
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: QUALITY,
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  const compressed = await promisify(brotliCompress)(bytes, { params });
  mkdirSync(CACHE, { recursive: true });
  const temp = `${cached}.${process.pid}`;
  writeFileSync(temp, compressed);
  renameSync(temp, cached);
  return compressed;
}
