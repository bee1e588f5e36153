import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type DaemonConfig, type DaemonName, isSlug } from '../../../core/link/index.ts';
import { usage } from '../outcome.ts';
import type { Ground } from './ground.ts';

/** An installed daemon that a command is about. */
export interface Chosen extends DaemonName {
  readonly name: string;
  /** Null when nobody can read it: it can still be taken away. */
  readonly config: DaemonConfig | null;
}

export interface Choice {
  readonly daemons: readonly Chosen[];
  readonly json: boolean;
  readonly keep: boolean;
}

const OPTIONS = {
  tenant: { type: 'string' },
  identity: { type: 'string' },
  persona: { type: 'string' },
  project: { type: 'string' },
  json: { type: 'boolean', default: false },
  keep: { type: 'boolean', default: false },
} as const;

/**
 * Which installed daemons a command is about: `T-I ...`, `--tenant T --identity I`, all of `--persona NAME`, or all of
 * `--project P`; exactly one of these ways.
 * @throws Fault `usage`, also when nothing fits
 */
export function chosenDaemons(verb: string, args: readonly string[], { installed }: Ground): Choice {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    const { tenant, identity, persona, project, json, keep } = values;
    if (keep && verb !== 'uninstall') throw new Error(`--keep: only uninstall removes what could be kept`);
    const all = installed.flatMap((one): readonly Chosen[] => {
      if (one.is === 'good') return [{ ...nameOf(one.config), name: one.name, config: one.config }];
      const parts = partsOf(one.name);
      return parts === null ? [] : [{ ...parts, name: one.name, config: null }];
    });
    const pair = tenant !== undefined || identity !== undefined;
    const ways = [positionals.length > 0, pair, persona !== undefined, project !== undefined].filter(Boolean);
    if (ways.length !== 1)
      throw new Error(`daemon ${verb}: say T-I, or --tenant and --identity, or --persona, or --project`);
    if (pair && (tenant === undefined || identity === undefined)) throw new Error('say both --tenant and --identity');
    for (const name of positionals)
      if (!all.some((one) => one.name === name)) throw new Error(`${name}: no daemon of that name is installed`);
    const folder = project === undefined ? null : resolve(project);
    const daemons = all.filter(({ name, config, ...pairOf }) => {
      if (positionals.length > 0) return positionals.includes(name);
      if (pair) return pairOf.tenant === tenant && pairOf.identity === identity;
      if (config === null) return false;
      return folder === null ? [config.address, config.identity].includes(persona ?? '') : config.project === folder;
    });
    if (daemons.length > 0) return { daemons, json, keep };
    const what = folder ?? persona ?? `${tenant} ${identity}`;
    throw new Error(`daemon ${verb}: none is installed for ${what}; see hivebar daemon list`);
  } catch (error) {
    throw usage(error);
  }
}

const nameOf = ({ tenant, identity }: DaemonName): DaemonName => ({ tenant, identity });

/** Any two slugs with this joined name: its places hang on nothing else. Null: it is no name of ours. */
function partsOf(name: string): DaemonName | null {
  for (let at = name.indexOf('-'); at > 0; at = name.indexOf('-', at + 1)) {
    const [tenant, identity] = [name.slice(0, at), name.slice(at + 1)];
    if (isSlug(tenant) && isSlug(identity)) return { tenant, identity };
  }
  return null;
}
