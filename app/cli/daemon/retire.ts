import { join, resolve } from 'node:path';
import { type Io, toUsageFault } from '../../../core/command/index.ts';
import { displayJson, displayName } from '../../../core/format/index.ts';
import {
  type DaemonConfig,
  type DaemonName,
  type DaemonPlaces,
  isSlug,
  writeDaemonConfig,
} from '../../../core/link/index.ts';
import { Fault, toFault } from '../../../core/model/index.ts';
import { realClock } from '../../../core/ports/index.ts';
import { createDaemonHandle, type DaemonEnd, endDaemon } from '../../service/index.ts';
import { createContext, type DaemonContext } from './daemon-context.ts';
import { removeDaemonFiles } from './remove.node.ts';
import { parseDaemonArgs } from './schema.ts';

/** What happens to the parts of a daemon that is ended. */
interface RetirePlan {
  readonly unit: 'paused' | 'removed';
  readonly config: 'kept' | 'removed';
}

interface RetireResult {
  readonly name: string;
  readonly end: DaemonEnd;
  readonly unit: RetirePlan['unit'];
  readonly config: RetirePlan['config'];
}

interface RetireCommand {
  run(args: readonly string[], io: Io): Promise<number>;
}

/** `daemon uninstall`: reverses `daemon install`, but leaves lingering on. */
export const uninstall = createRetireCommand('uninstall');
/** `daemon wrap`: ends daemons until they are installed again; unit, configuration and tokens stay. */
export const wrap = createRetireCommand('wrap');
/** `daemon archive`: ends daemons and removes them from the launcher; configuration and tokens stay. */
export const archive = createRetireCommand('archive');
/** `daemon destroy`: ends daemons and removes everything of them from this machine. */
export const destroy = createRetireCommand('destroy');

function createRetireCommand(verb: RetireVerb): RetireCommand {
  return { run: async (args, io) => await retire(verb, args, io) };
}

function toPlan(verb: RetireVerb, leavesFiles: boolean): RetirePlan {
  switch (verb) {
    case 'wrap':
      return { unit: 'paused', config: 'kept' };
    case 'archive':
      return { unit: 'removed', config: 'kept' };
    case 'destroy':
      return { unit: 'removed', config: 'removed' };
    case 'uninstall':
      return { unit: 'removed', config: leavesFiles ? 'kept' : 'removed' };
  }
}

/**
 * Ends daemons so that nobody starts them again (persona daemon, contract 5). All are ended at the same time: each is asked,
 * terminated after 5 s, and killed after 2 s more. Other daemons are not touched.
 * @throws Fault `usage`
 * @returns 1 when a daemon could not be ended or removed; stderr says which
 */
async function retire(verb: RetireVerb, args: readonly string[], io: Io): Promise<number> {
  const context = createContext(io);
  const { daemons, json, leavesFiles } = chooseDaemons(verb, args, context);
  const plan = toPlan(verb, leavesFiles);
  const results = await Promise.all(
    daemons.map(async (daemon): Promise<RetireResult | { readonly name: string; readonly error: string }> => {
      try {
        return await retireDaemon(daemon, toReason(verb, plan), plan, context);
      } catch (error) {
        const { name } = daemon;
        return { name, error: toFault(error, { is: 'machine', key: `daemon:${name}` }).explain() };
      }
    }),
  );
  if (json) io.out(`${displayJson(JSON.stringify(results))}\n`);
  for (const result of results) {
    if ('error' in result) io.err(`hivebar daemon: ${displayName(`${result.name}: ${result.error}`)}\n`);
    else if (!json) io.out(`${displayName(formatRetired(result))}\n`);
  }
  return results.some((result) => 'error' in result) ? 1 : 0;
}

/** Returns the reason for the upstream. An uninstall is reported as `destroy` or `archive`, depending on the configuration. */
function toReason(verb: string, { config }: RetirePlan): string {
  if (verb !== 'uninstall') return verb;
  return config === 'removed' ? 'destroy' : 'archive';
}

async function retireDaemon(
  daemon: ChosenDaemon,
  reason: string,
  plan: RetirePlan,
  context: DaemonContext,
): Promise<RetireResult> {
  const { disk, random } = context;
  const { name, config } = daemon;
  const places = context.places(daemon);
  // This comes first: every program that could start the daemon again sees that it is paused.
  if (config !== null) writeDaemonConfig(disk, random, places, { ...config, paused: true });
  const end = await endDaemon(places, reason, createDaemonHandle(disk, places), realClock);
  if (end === 'killed') await endShim(places);
  const service = context.service({ ...daemon, project: config?.project ?? '' });
  if ((await service.check()).is === 'ours') await (plan.unit === 'removed' ? service.uninstall() : service.pause());
  if (end === 'stayed') {
    const why = `the daemon ${name} still runs after it was asked to end, terminated and killed`;
    throw new Fault('daemon-refused', why, { is: 'machine', key: `daemon:${name}` });
  }
  if (plan.config === 'removed') removeDaemonFiles(disk, places);
  return { name, end, ...plan };
}

/**
 * Ends the shim of a killed daemon. A shim that does not end with its stdin would survive, because the daemon could not end it.
 */
async function endShim({ runtime }: DaemonPlaces): Promise<void> {
  const { endOrphanedShim: endLeftOver } = await import('../../../core/daemon/index.ts');
  endLeftOver(join(runtime, 'shim.pid'));
}

const ENDS: Readonly<Record<DaemonEnd, string>> = {
  'was-gone': 'did not run',
  asked: 'ended',
  terminated: 'did not end when asked, and was terminated',
  killed: 'did not end when asked or terminated, and was killed',
  stayed: 'still runs',
};

function formatRetired({ name, end, unit, config }: RetireResult): string {
  const left =
    config === 'removed'
      ? 'its unit, configuration and tokens are removed'
      : unit === 'removed'
        ? 'its unit is removed, its configuration and tokens are kept'
        : 'it is paused until hivebar daemon install starts it again';
  return `${name}: ${ENDS[end]}; ${left}`;
}

/** An installed daemon that a command selected. */
interface ChosenDaemon extends DaemonName {
  readonly name: string;
  /** Null when the configuration cannot be read. The daemon can still be removed. */
  readonly config: DaemonConfig | null;
}

interface DaemonChoice {
  readonly daemons: readonly ChosenDaemon[];
  readonly json: boolean;
  readonly leavesFiles: boolean;
}

/** The verbs that act on several daemons. */
type RetireVerb = 'uninstall' | 'wrap' | 'archive' | 'destroy';

/**
 * Selects installed daemons by exactly one of `T-I ...`, `--tenant T --identity I`, `--persona NAME` (all of that persona) or
 * `--project P` (all of that project).
 * @throws Fault `usage`, also when nothing matches
 */
function chooseDaemons(verb: RetireVerb, args: readonly string[], { installed }: DaemonContext): DaemonChoice {
  try {
    const { names, tenant, identity, persona, project, json, keep: leavesFiles } = parseDaemonArgs(verb, args);
    if (leavesFiles && verb !== 'uninstall') throw new Error(`--keep is used only with uninstall`);
    const candidates = installed.flatMap((entry): readonly ChosenDaemon[] => {
      if (entry.is === 'good') return [{ ...toDaemonName(entry.config), name: entry.name, config: entry.config }];
      const parts = splitName(entry.name);
      return parts === null ? [] : [{ ...parts, name: entry.name, config: null }];
    });
    const pair = tenant !== undefined || identity !== undefined;
    const ways = [names.length > 0, pair, persona !== undefined, project !== undefined].filter(Boolean);
    if (ways.length !== 1)
      throw new Error(`daemon ${verb}: use exactly one of T-I, --tenant with --identity, --persona and --project`);
    if (pair && (tenant === undefined || identity === undefined)) throw new Error('use both --tenant and --identity');
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
    throw new Error(`daemon ${verb}: no daemon is installed for ${selection}; see hivebar daemon list`);
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
