import { createHash, timingSafeEqual } from 'node:crypto';

/** What the sender of a request may see and do. `wrong`: a token was given and it is not ours. */
export type Right = 'owner' | 'anyone' | 'wrong';

/** Reads `Authorization: Bearer TOKEN`. Digests of equal length are compared, so the time taken tells nothing. */
export function rightOf(authorization: string | undefined, token: string): Right {
  if (authorization === undefined) return 'anyone';
  const given = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
  return given !== undefined && timingSafeEqual(digest(given), digest(token)) ? 'owner' : 'wrong';
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
