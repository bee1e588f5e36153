import { parseArgs } from 'node:util';
import type { Io } from '../../../core/command/index.ts';
import { toUsageFault } from '../../../core/command/index.ts';
import {
  type DaemonName,
  type DaemonPlaces,
  findOwnDaemonPlaces,
  isSlug,
  loadInstalledDaemons,
  readOwnSurroundings,
  toDaemonsDir,
} from '../../../core/link/index.ts';
import { Fault } from '../../../core/model/index.ts';
import { createRealDisk } from '../../../core/state/index.ts';
import { createStderrLog } from '../stderr-log.ts';

export interface ResolvedDaemon<Flags> {
  readonly daemon: DaemonName;
  readonly places: DaemonPlaces;
  readonly flags: Flags;
}

type FlagValue = string | boolean | undefined;
type Options = Readonly<Record<string, { readonly type: 'string' | 'boolean' }>>;

const WHICH = { tenant: { type: 'string' }, identity: { type: 'string' }, json: { type: 'boolean' } } as const;

/**
 * Resolves the daemon of a command line: `T-I` or `--tenant T --identity I`, else the only one that is installed. A joined name
 * must be an installed daemon; any other daemon is named with both flags.
 *
 * @param verb for messages
 * @param extraOptions further flags of the verb
 * @throws Fault `usage`; `daemon-config` when the configuration of an installed daemon cannot be read
 */
export function resolveDaemon(
  verb: string,
  args: readonly string[],
  extraOptions: Options,
  io: Io,
): ResolvedDaemon<Readonly<Record<string, FlagValue>>> {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { ...extraOptions, ...WHICH },
      allowPositionals: true,
    });
    const [joined, ...rest] = positionals;
    if (rest.length > 0) throw new Error(`daemon ${verb}: ${rest.join(' ')} is too much`);
    const daemon = parseName(joined, values.tenant, values.identity) ?? findInstalled(verb, joined, io);
    return { daemon, places: findOwnDaemonPlaces(daemon, io.env), flags: values };
  } catch (error) {
    throw error instanceof Fault ? error : toUsageFault(error);
  }
}

function parseName(joined: string | undefined, tenant: FlagValue, identity: FlagValue): DaemonName | null {
  if (tenant === undefined && identity === undefined) return null;
  if (joined !== undefined) throw new Error(`say ${joined}, or --tenant and --identity`);
  if (typeof tenant !== 'string' || typeof identity !== 'string') throw new Error('say both --tenant and --identity');
  for (const slug of [tenant, identity])
    if (!isSlug(slug)) throw new Error(`${slug || 'an empty text'} is no slug: 1 to 32 letters a-z, digits and dashes`);
  return { tenant, identity };
}

function findInstalled(verb: string, joined: string | undefined, io: Io): DaemonName {
  const disk = createRealDisk(createStderrLog(io, 'hivebar daemon'));
  const daemons = loadInstalledDaemons(disk, toDaemonsDir(readOwnSurroundings(io.env)));
  const fitting = joined === undefined ? daemons : daemons.filter(({ name }) => name === joined);
  const [first, another] = fitting;
  if (first === undefined) {
    if (joined === undefined) throw new Error(`daemon ${verb}: none is installed; say --tenant and --identity`);
    throw new Error(`${joined}: no daemon of that name is installed; say --tenant and --identity, or see daemon list`);
  }
  if (another !== undefined) throw new Error(`daemon ${verb}: which? ${fitting.map(({ name }) => name).join(', ')}`);
  if (first.is === 'bad') throw new Fault('daemon-config', first.why, { is: 'machine', key: `daemon:${first.name}` });
  return first.config;
}
