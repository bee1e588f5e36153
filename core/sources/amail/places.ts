import { isAbsolute, join } from 'node:path';
import type { Files, Variables } from '../../ports/index.ts';
import { readText } from '../../state/index.ts';
import { type ServerSetting, TOKEN_VARIABLE } from './settings.ts';

/** Where the server of this user is, and what belongs to it (agent-mail contract 1). */
export interface AmailPlaces {
  /** `http://HOST:PORT`, without a slash at its end. */
  readonly base: string;
  /** The token that its environment file names; null when there is none. It is never logged. */
  readonly token: string | null;
  /** The environment file that was read; null when there is none. */
  readonly envFile: string | null;
  /** The directory of the signal files. */
  readonly signals: string;
  /** The directory of the archive. */
  readonly store: string;
  /** The database that the server has open. */
  readonly database: string;
}

export interface AmailMachine {
  readonly files: Pick<Files, 'open' | 'read' | 'fstat' | 'close' | 'lstat'>;
  readonly env: Variables;
  readonly home: string;
}

const PORT = 8765;
const MOST_BYTES = 256 * 1024;
const WILDCARDS: readonly string[] = ['0.0.0.0', '::', '[::]', '*', ''];

/**
 * Resolves the places. An environment file that cannot be read counts as none: its server may be reached all the same.
 * `open` and `read` are the only calls, also of files that may not be there.
 */
export function resolveAmailPlaces(setting: ServerSetting, machine: AmailMachine): AmailPlaces {
  const { env, home } = machine;
  const found = findEnvFile(setting, machine);
  const variables = found === null ? {} : parseEnvFile(found.text);
  const read = (name: string): string | null => variables[name] || null;
  const store = toPath(read('STORAGE_ROOT'), home) ?? findStore(machine);
  return {
    base: setting.base?.replace(/\/+$/, '') ?? toBase(read('HTTP_HOST'), read('HTTP_PORT')),
    token: read(TOKEN_VARIABLE),
    envFile: found?.path ?? null,
    signals: toPath(read('NOTIFICATIONS_SIGNALS_DIR'), home) ?? join(home, '.mcp_agent_mail', 'signals'),
    store,
    database: toDatabasePath(read('DATABASE_URL'), store, home),
  };

  function findStore({ files }: AmailMachine): string {
    const legacy = join(home, '.mcp_agent_mail_git_mailbox_repo');
    if (isThere(files, legacy)) return legacy;
    return join(toDataHome(env, home), 'mcp-agent-mail', 'git_mailbox_repo');
  }
}

function toBase(host: string | null, port: string | null): string {
  const isWildcard = host === null || WILDCARDS.includes(host);
  const name = isWildcard ? '127.0.0.1' : host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
  const number = port !== null && /^[1-9]\d{0,4}$/.test(port) ? Number(port) : PORT;
  return URL.parse(`http://${name}:${number}`)?.origin ?? `http://127.0.0.1:${PORT}`;
}

/** The places of the environment file, the first that exists counts. Those of the Python server are in folders nobody knows. */
export function listEnvFiles(
  { envFile }: ServerSetting,
  { env, home }: Omit<AmailMachine, 'files'>,
): readonly string[] {
  if (envFile !== undefined) return [envFile];
  const folder = join(toConfigHome(env, home), 'mcp-agent-mail');
  return [join(folder, 'config.env'), join(folder, '.env'), join(home, '.mcp_agent_mail', '.env')];
}

function findEnvFile(
  setting: ServerSetting,
  machine: AmailMachine,
): { readonly path: string; readonly text: string } | null {
  for (const path of listEnvFiles(setting, machine)) {
    try {
      const text = readText(machine.files as Files, path, MOST_BYTES);
      if (text !== null) return { path, text };
    } catch {
      // The server reads the next one as well.
    }
  }
  return null;
}

const LINE = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$/;

/** Parses `NAME=VALUE` lines. Quotes are removed, and so is a comment after a blank outside of quotes. */
export function parseEnvFile(text: string): Variables {
  const variables: Record<string, string> = {};
  for (const line of text.replace(/^\ufeff/, '').split(/\r?\n/)) {
    const [, name, value] = LINE.exec(line) ?? [];
    if (name === undefined || value === undefined) continue;
    const quoted = /^(["'])(.*?)\1(?:\s+#.*)?$/.exec(value);
    variables[name] = quoted?.[2] ?? value.replace(/(?:^|\s+)#.*$/, '');
  }
  return variables;
}

function toPath(text: string | null, home: string): string | null {
  if (text === null) return null;
  const path = text === '~' || text.startsWith('~/') ? join(home, text.slice(1)) : text;
  return isAbsolute(path) ? path : null; // relative to a folder that only the server knows
}

/** `sqlite+aiosqlite:////abs/file` and `sqlite:///abs/file`. A relative path lies in the store, as the Rust server has it. */
function toDatabasePath(url: string | null, store: string, home: string): string {
  const fallback = join(store, 'storage.sqlite3');
  const path = /^sqlite(?:\+\w+)?:\/\/\/(.*?)(?:\?.*)?$/.exec(url ?? '')?.[1];
  if (path === undefined || path === '' || path === './storage.sqlite3') return fallback;
  return toPath(path, home) ?? join(store, path);
}

export function isThere(files: Pick<Files, 'lstat'>, path: string): boolean {
  try {
    return files.lstat(path) !== null;
  } catch {
    return false; // what cannot be seen is not the store
  }
}

const toConfigHome = (env: Variables, home: string): string => toAbsolute(env.XDG_CONFIG_HOME) ?? join(home, '.config');
const toDataHome = (env: Variables, home: string): string =>
  toAbsolute(env.XDG_DATA_HOME) ?? join(home, '.local', 'share');
const toAbsolute = (path: string | undefined): string | null => (path !== undefined && isAbsolute(path) ? path : null);
