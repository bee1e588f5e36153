// Loaded before a program with NODE_OPTIONS=--import: it is FIXED_NOW there, and the six digits that are drawn are FIXED_HEX.
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

const now = Date.parse(process.env.FIXED_NOW);
const digits = Buffer.from(process.env.FIXED_HEX, 'hex');
const { randomBytes } = crypto;

Date.now = () => now;
crypto.randomBytes = (size, ...more) => (size === digits.length ? digits : randomBytes(size, ...more));
syncBuiltinESMExports();
