import { join, resolve } from 'node:path';

/** The directories of a garden store. All paths are absolute. */
export interface GardenPlaces {
  readonly sessions: string;
  readonly mailbox: string;
  readonly senders: string;
  readonly receivers: string;
  /** Only for pi: the control sockets `<gid>.sock`. */
  readonly sockets: string;
}

export interface GardenPlacesOptions {
  /** The agent directory, when a person named it. Then the environment does not move what lies below it. */
  readonly store?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly cwd: string;
}

/** Both generations use the same variable names except for the prefix; the newer prefix wins. */
const PREFIXES = ['ENTWURF', 'PI'] as const;

/**
 * The directories of a store. Each comes from its own override, otherwise it is below the agent directory, otherwise below
 * `~/.pi/agent` (garden contract 1). An empty variable does not count; `~` and `~/...` mean the home directory.
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

/** `~name` stays as it is, because it is the name of a file. */
function expandHome(path: string, home: string): string {
  if (path === '~') return home;
  return path.startsWith('~/') ? join(home, path.slice('~/'.length)) : path;
}
