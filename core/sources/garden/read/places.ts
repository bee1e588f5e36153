import { join, resolve } from 'node:path';

/** Where a garden store is. All absolute. */
export interface GardenPlaces {
  readonly sessions: string;
  readonly mailbox: string;
  readonly senders: string;
  readonly receivers: string;
  /** Of pi only: `<gid>.sock`. */
  readonly sockets: string;
}

export interface GardenPlacesOptions {
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
export function computeGardenPlaces({ store, env, home, cwd }: GardenPlacesOptions): GardenPlaces {
  const toAbsolute = (path: string): string => resolve(cwd, expandHome(path, home));
  const agent = toAbsolute(store || env.PI_CODING_AGENT_DIR || '~/.pi/agent');
  const resolvePlace = (name: 'sessions' | 'mailbox' | 'senders' | 'receivers'): string => {
    const own = PREFIXES.map((prefix) => env[`${prefix}_META_${name.toUpperCase()}_DIR`]).find(Boolean);
    return own === undefined || store ? join(agent, `meta-${name}`) : toAbsolute(own);
  };
  return {
    sessions: resolvePlace('sessions'),
    mailbox: resolvePlace('mailbox'),
    senders: resolvePlace('senders'),
    receivers: resolvePlace('receivers'),
    sockets: toAbsolute(env.ENTWURF_DIR || '~/.pi/entwurf-control'),
  };
}

/** `~name` stays what it is: the name of a file. */
function expandHome(path: string, home: string): string {
  if (path === '~') return home;
  return path.startsWith('~/') ? join(home, path.slice('~/'.length)) : path;
}
