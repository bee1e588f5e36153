import { randomBytes } from 'node:crypto';
import type { Random } from './random.ts';

export const realRandom: Random = { hex: (bytes) => randomBytes(bytes).toString('hex') };
