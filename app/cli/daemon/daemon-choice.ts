import { resolve } from 'node:path';
import { toUsageFault } from '../../../core/command/index.ts';
import { type DaemonConfig, type DaemonName, isSlug } from '../../../core/link/index.ts';
import type { DaemonContext } from './daemon-context.ts';
import { parseDaemonArgs } from './schema.ts';

/** An installed daemon that a command selected. */
export interface ChosenDaemon extends DaemonName {
  readonly name: string;
  /** Null when the configuration cannot be read. The daemon can still be removed. */
  readonly config: DaemonConfig | null;
}

export interface DaemonChoice {
  readonly daemons: readonly ChosenDaemon[];
  readonly json: boolean;
  readonly leavesFiles: boolean;
}

/** The verbs that act on several daemons. */
export type RetireVerb = 'uninstall' | 'wrap' | 'archive' | 'destroy';

/**
 * Selects installed daemons by exactly one of `T-I ...`, `--tenant T --identity I`, `--persona NAME` (all of that persona) or
 * `--project P` (all of that project).
 * @throws Fault `usage`, also when nothing matches
 */
export function chooseDaemons(verb: RetireVerb, args: readonly string[], { installed }: DaemonContext): DaemonChoice {
  try {
    const { names, tenant, identity, persona, project, json, keep: leavesFiles } = parseDaemonArgs(verb, args);
    if (leavesFiles && verb !== 'uninstall') throw new Error(`--keep: only uninstall removes what could be kept`);
    const candidates = installed.flatMap((entry): readonly ChosenDaemon[] => {
      if (entry.is === 'good') return [{ ...toDaemonName(entry.config), name: entry.name, config: entry.config }];
      const parts = splitName(entry.name);
      return parts === null ? [] : [{ ...parts, name: entry.name, config: null }];
    });
    const pair = tenant !== undefined || identity !== undefined;
    const ways = [names.length > 0, pair, persona !== undefined, project !== undefined].filter(Boolean);
    if (ways.length !== 1)
      throw new Error(`daemon ${verb}: say T-I, or --tenant and --identity, or --persona, or --project`);
    if (pair && (tenant === undefined || identity === undefined)) throw new Error('say both --tenant and --identity');
    for (const name of names)
      if (!candidates.some((candidate) => candidate.name === name))
        throw new Error(`${name}: no daemon of that name is installed`);
    const folder = project === undefined ? null : resolve(project);
    const daemons = candidates.filter(({ name, config, ...daemonName }) => {
      if (names.length > 0) return names.includes(name);
      if (pair) return daemonName.tenant === tenant && daemonName.identity === identity;
      if (config === null) return false;
      return folder === null ? [config.address, config.identity].includes(persona ?? '') : config.project === folder;
    });
    if (daemons.length > 0) return { daemons, json, leavesFiles };
    const selection = folder ?? persona ?? `${tenant} ${identity}`;
    throw new Error(`daemon ${verb}: none is installed for ${selection}; see hivebar daemon list`);
  } catch (error) {
    throw toUsageFault(error);
  }
}

const toDaemonName = ({ tenant, identity }: DaemonName): DaemonName => ({ tenant, identity });

/**
 * Splits a joined name into any two slugs that form it, because the paths of a daemon depend only on the joined name. Null: the
 * name is not ours.
 */
function splitName(name: string): DaemonName | null {
  for (let at = name.indexOf('-'); at > 0; at = name.indexOf('-', at + 1)) {
    const [tenant, identity] = [name.slice(0, at), name.slice(at + 1)];
    if (isSlug(tenant) && isSlug(identity)) return { tenant, identity };
  }
  return null;
}
