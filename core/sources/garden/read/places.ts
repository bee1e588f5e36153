import { join, resolve } from 'node:path';

/** Where a garden store is. All absolute. */
export interface Places {
  readonly sessions: string;
  readonly mailbox: string;
  readonly senders: string;
  readonly receivers: string;
  /** Of pi only: `<gid>.sock`. */
  readonly sockets: string;
}

export interface PlacesOptions {
  /** The agent directory, named by a person: then the environment has no say in what lies below it. */
  readonly store?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly cwd: string;
}

/** Both generations name their overrides alike but for the prefix; the newer one is asked first. */
const PREFIXES = ['ENTWURF', 'PI'] as const;

/**
 * The directories of a store: an override of its own, else below the agent directory, else below `~/.pi/agent` (garden
 * contract 1). An empty variable is none; `~` and `~/...` are the home directory.
 */
export function placesOf({ store, env, home, cwd }: PlacesOptions): Places {
  const absolute = (path: string): string => resolve(cwd, withHome(path, home));
  const agent = absolute(store || env.PI_CODING_AGENT_DIR || '~/.pi/agent');
  const place = (name: 'sessions' | 'mailbox' | 'senders' | 'receivers'): string => {
    const own = PREFIXES.map((prefix) => env[`${prefix}_META_${name.toUpperCase()}_DIR`]).find(Boolean);
    return own === undefined || store ? join(agent, `meta-${name}`) : absolute(own);
  };
  return {
    sessions: place('sessions'),
    mailbox: place('mailbox'),
    senders: place('senders'),
    receivers: place('receivers'),
    sockets: absolute(env.ENTWURF_DIR || '~/.pi/entwurf-control'),
  };
}

/** `~name` stays what it is: the name of a file. */
function withHome(path: string, home: string): string {
  if (path === '~') return home;
  return path.startsWith('~/') ? join(home, path.slice('~/'.length)) : path;
}
