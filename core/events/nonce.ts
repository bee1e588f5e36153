import { hash } from 'node:crypto';

const ALPHABET = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
const DIGITS = 11;

/** The eleven digits are computed as three numbers of four, four and three digits, the least significant first. */
const FOUR = 62 ** 4;
const THREE = 62 ** 3;

/**
 * The hash is sixteen numbers of sixteen bits. This table holds what each place is worth modulo 62^11, split into the same three
 * numbers. So the digits are sums of products that a double holds exactly, ten times as fast as long division.
 */
const WORTH = Array.from({ length: 16 }, (_, i) => {
  const worth = 2n ** BigInt(16 * (15 - i)) % 62n ** BigInt(DIGITS);
  const four = BigInt(FOUR);
  return { low: Number(worth % four), middle: Number((worth / four) % four), high: Number(worth / four / four) };
});

/**
 * The first 11 digits of sha256(`eventId`) in base 62, least significant first, of a-z, A-Z, 0-9 (Kijito contract b; traps 63 to
 * 65). It depends on the id alone, so the same message has the same nonce for ever, whoever sends it again.
 */
export function computeNonce(eventId: string): string {
  const bytes = hash('sha256', eventId, 'binary');
  let low = 0;
  let middle = 0;
  let high = 0;
  WORTH.forEach((worth, i) => {
    const part = bytes.charCodeAt(2 * i) * 256 + bytes.charCodeAt(2 * i + 1);
    low += part * worth.low;
    middle += part * worth.middle;
    high += part * worth.high;
  });
  middle += Math.floor(low / FOUR);
  high += Math.floor(middle / FOUR);
  return formatDigits(low % FOUR, 4) + formatDigits(middle % FOUR, 4) + formatDigits(high % THREE, 3);
}

function formatDigits(value: number, count: number): string {
  let text = '';
  for (let left = value, i = 0; i < count; i += 1) {
    text += ALPHABET[left % 62];
    left = Math.floor(left / 62);
  }
  return text;
}
