import { timingSafeEqual } from 'node:crypto';

/** What the sender of a request may see and do. `wrong` means that a token was given and it is not ours. */
export type Right = 'owner' | 'anyone' | 'wrong';

/** Reads `Authorization: Bearer TOKEN`. The time taken reveals the length of our token, which is no secret, and nothing else. */
export function createRightCheck(token: string): (authorization: string | undefined) => Right {
  const ours = Buffer.from(token);
  return (authorization) => {
    if (authorization === undefined) return 'anyone';
    const givenToken = Buffer.from(parseBearer(authorization) ?? '');
    return givenToken.length === ours.length && timingSafeEqual(givenToken, ours) ? 'owner' : 'wrong';
  };
}

/** Returns the token of `Authorization: Bearer TOKEN`, or null when there is none. */
export function parseBearer(authorization: string): string | null {
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? null;
}
