import { hash, timingSafeEqual } from 'node:crypto';

/** What the sender of a request may see and do. `wrong`: a token was given and it is not ours. */
export type Right = 'owner' | 'anyone' | 'wrong';

/** Reads `Authorization: Bearer TOKEN`. Digests of equal length are compared, so the time taken tells nothing. */
export function rightsBy(token: string): (authorization: string | undefined) => Right {
  const ours = digest(token);
  return (authorization) => {
    if (authorization === undefined) return 'anyone';
    const given = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
    return given !== undefined && timingSafeEqual(digest(given), ours) ? 'owner' : 'wrong';
  };
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
