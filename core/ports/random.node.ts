import { randomBytes } from 'node:crypto';
import type { Random } from './ports.ts';

export const realRandom: Random = { hex: (bytes) => randomBytes(bytes).toString('hex') };

const HEX = 16;

/**
 * Random values for names of temporary files, which must differ but are no secret. It avoids `node:crypto`, which takes
 * longer to load than a hook has for all of its work.
 */
export const plainRandom: Random = {
  hex: (bytes) => Array.from({ length: bytes * 2 }, () => Math.floor(Math.random() * HEX).toString(HEX)).join(''),
};
