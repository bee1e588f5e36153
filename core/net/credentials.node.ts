import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { Fault, type Scope } from '../model/index.ts';
import type { Clock, Log } from '../ports/index.ts';

export interface CredentialSources {
  /** `--token-file`; takes precedence over the variable. */
  readonly tokenFile: string | null;
  /** The value of `KIJITOMON_TOKEN`, if it is set. */
  readonly tokenVariable: string | undefined;
  /** `--auth-header`; null for `Authorization: Bearer`. */
  readonly authHeader: string | null;
}

const LONGEST = 64 * 1024;

/**
 * Returns the header to send, or null when no token is configured. A token file that others may read, or that another
 * user owns, is used with a warning (Kijito contract D22).
 * @throws Fault `unreadable` when the file cannot be read or holds no token; `usage` when no header can carry the token
 */
export function readCredential(from: CredentialSources, log: Log): Header | null {
  const scope: Scope = { is: 'machine', key: 'token' };
  const warn = (flaw: string): void => log.warn(flaw);
  const token = from.tokenFile === null ? (from.tokenVariable ?? '').trim() : readToken(from.tokenFile, warn, scope);
  return token === '' ? null : toTokenHeader(token, from.authHeader, scope);
}

interface TokenFile {
  readonly path: string;
  /** The scope of a fault of this file: the hive, and never the whole machine. */
  readonly scope: Scope;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Log;
  /** Null for `Authorization: Bearer`. */
  readonly authHeader?: string | null;
  /** The header that was already read, so that the file is read again only after a refusal. */
  readonly held?: Header;
}

/** The file is read at most once per this many milliseconds, however many requests are refused. */
const REREAD_MS = 1000;

/**
 * The token of a file that may appear later or be replaced. It is read with the first request. Later it is read only
 * when there is no token or the hive refused it, and at most once per second. Each flaw of the file is logged once.
 */
export function createTokenFileCredentials({
  path,
  scope,
  clock,
  log,
  authHeader = null,
  held,
}: TokenFile): Credentials {
  const warned = new Set<string>();
  const warn = (flaw: string): void => {
    if (!warned.has(flaw)) log.warn(`${scope.key}: ${flaw}`);
    warned.add(flaw);
  };
  let now:
    | { readonly is: 'held'; readonly header: Header }
    | { readonly is: 'unusable'; readonly fault: unknown }
    | null = held === undefined ? null : { is: 'held', header: held };
  let readAt = Number.NEGATIVE_INFINITY;
  const read = (): void => {
    readAt = clock.monotonic();
    try {
      const header = toTokenHeader(readToken(path, warn, scope), authHeader, scope);
      if (now?.is !== 'held' || now.header.value !== header.value) now = { is: 'held', header };
    } catch (fault) {
      now = { is: 'unusable', fault };
    }
  };
  const isDue = (): boolean => clock.monotonic() - readAt >= REREAD_MS;
  const header = (): Header => {
    if (now === null || (now.is === 'unusable' && isDue())) read();
    if (now?.is !== 'held') throw now?.fault;
    return now.header;
  };
  return {
    about: `the token in ${JSON.stringify(path)}`,
    header,
    refresh(refused) {
      if (now?.is === 'held' && now.header === refused && isDue()) read();
      return now?.is === 'held' && now.header !== refused;
    },
  };
}

function readToken(path: string, warn: (flaw: string) => void, scope: Scope): string {
  const name = JSON.stringify(path);
  const createUnreadableFault = (problem: string, cause?: unknown): Fault =>
    new Fault('unreadable', `token file ${name} ${problem}`, scope, { cause });
  let text: string;
  try {
    const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const stat = fstatSync(fd);
      if (!stat.isFile()) throw createUnreadableFault('is not a regular file');
      if (stat.size > LONGEST) throw createUnreadableFault(`is ${stat.size} bytes long, too long for a token`);
      for (const flaw of findFlaws(stat)) warn(`token file ${name} ${flaw}`);
      text = readFileSync(fd, 'utf8');
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw createUnreadableFault(`cannot be read (${error instanceof Error ? error.message : String(error)})`, error);
  }
  const token = text.replace(/^\ufeff/, '').trim();
  if (token === '') throw createUnreadableFault('holds no token');
  return token;
}

/** Finds what makes the file unsafe for a secret. Windows has access lists instead of modes, so nothing is checked there. */
function findFlaws(stat: Stats): string[] {
  const me = process.getuid?.();
  if (me === undefined) return [];
  const flaws: string[] = [];
  if ((stat.mode & 0o077) !== 0) {
    flaws.push(`is open to other users (mode ${(stat.mode & 0o777).toString(8)}): chmod 600 it`);
  }
  if (stat.uid !== me && stat.uid !== 0) flaws.push(`is owned by another user (uid ${stat.uid})`);
  return flaws;
}

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
function toTokenHeader(token: string, authHeader: string | null, scope: Scope): Header {
  if (!/^[\x20-\x7e\x80-\xff]+$/.test(token)) {
    throw new Fault('usage', 'the token has a line break or another character that no header can carry', scope);
  }
  if (authHeader === null) return { name: 'authorization', value: `Bearer ${token}` };
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(authHeader) || FRAMING_HEADERS.has(authHeader.toLowerCase())) {
    throw new Fault('usage', `--auth-header ${JSON.stringify(authHeader)} cannot carry a token`, scope);
  }
  return { name: authHeader, value: token };
}
