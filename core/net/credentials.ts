import { Fault, type Scope } from '../model/index.ts';

/** A header that carries a token. Never logged. */
export interface Header {
  readonly name: string;
  readonly value: string;
}

/** What a target is asked with; may change while it is asked. */
export interface Credentials {
  /** For a message: which token it is. Never the token. */
  readonly about: string;
  /** To send now. @throws Fault `unreadable` or `usage` while there is none to send */
  header(): Header | null;
  /** Told which header was refused. True: there is another one now, and it is worth asking again with. */
  refresh(refused: Header | null): boolean;
}

/** One header, or none, for ever. */
export function createFixedCredentials(header: Header | null): Credentials {
  return {
    about: header === null ? 'a request without a token' : 'the token',
    header: () => header,
    refresh: () => false,
  };
}

/** Headers that frame or route a request: a token under such a name would change what is sent, not who sends it. */
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
 * `Authorization: Bearer TOKEN`, or with a header name of the user's own `NAME: TOKEN` (Kijito contract a).
 * @throws Fault `usage` when the name or the token cannot stand in a header; the token is never in the message
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
