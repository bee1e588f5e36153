import { Fault, type Scope } from '../model/index.ts';

/** A header that carries a token. It is never logged. */
export interface Header {
  readonly name: string;
  readonly value: string;
}

/** The credentials for a target. They may change during a run. */
export interface Credentials {
  /** Names the token in messages. Never the token itself. */
  readonly about: string;
  /**
   * Returns the header to send now.
   * @throws Fault `unreadable` or `usage` while there is none to send
   */
  header(): Header | null;
  /** Called with the header that was refused. True: there is a new header, so the request is worth repeating. */
  refresh(refused: Header | null): boolean;
}

/** Creates credentials that always return the same header, or none. */
export function createFixedCredentials(header: Header | null): Credentials {
  return {
    about: header === null ? 'a request without a token' : 'the token',
    header: () => header,
    refresh: () => false,
  };
}

/** Headers that frame or route a request. A token under such a name would change the request itself. */
const FRAMING_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
]);

/**
 * Returns `Authorization: Bearer TOKEN`, or `NAME: TOKEN` with a header name that the user chose (Kijito contract a).
 * @throws Fault `usage` when the name or the token cannot be in a header; the message never contains the token
 */
export function toTokenHeader(token: string, authHeader: string | null, scope: Scope): Header {
  if (!/^[\x20-\x7e\x80-\xff]+$/.test(token)) {
    throw new Fault('usage', 'the token has a line break or another character that no header can carry', scope);
  }
  if (authHeader === null) return { name: 'authorization', value: `Bearer ${token}` };
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(authHeader) || FRAMING_HEADERS.has(authHeader.toLowerCase())) {
    throw new Fault('usage', `--auth-header ${JSON.stringify(authHeader)} cannot carry a token`, scope);
  }
  return { name: authHeader, value: token };
}
