import { parseArgs } from 'node:util';
import {
  type DaemonName,
  type DaemonPlaces,
  daemonsDir,
  installedDaemons,
  isSlug,
  ownDaemonPlaces,
  ownSurroundings,
} from '../../../core/link/index.ts';
import { Fault } from '../../../core/model/index.ts';
import { realDisk } from '../../../core/state/index.ts';
import type { Io } from '../command.ts';
import { usage } from '../outcome.ts';
import { stderrLog } from '../stderr-log.ts';

export interface Which<Flags> {
  readonly daemon: DaemonName;
  readonly places: DaemonPlaces;
  readonly flags: Flags;
}

type Value = string | boolean | undefined;
type Options = Readonly<Record<string, { readonly type: 'string' | 'boolean' }>>;

const WHICH = { tenant: { type: 'string' }, identity: { type: 'string' }, json: { type: 'boolean' } } as const;

/**
 * Which daemon a command line is about: `T-I` or `--tenant T --identity I`, else the only one that is installed.
 * A joined name is looked up among what was installed; one that was not is named with both flags.
 *
 * @param verb for messages @param more further flags of the verb
 * @throws Fault `usage`; `daemon-config` when what was installed can not be read
 */
export function whichDaemon(
  verb: string,
  args: readonly string[],
  more: Options,
  io: Io,
): Which<Readonly<Record<string, Value>>> {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { ...more, ...WHICH },
      allowPositionals: true,
    });
    const [joined, ...rest] = positionals;
    if (rest.length > 0) throw new Error(`daemon ${verb}: ${rest.join(' ')} is too much`);
    const daemon = named(joined, values.tenant, values.identity) ?? installed(verb, joined, io);
    return { daemon, places: ownDaemonPlaces(daemon, io.env), flags: values };
  } catch (error) {
    throw error instanceof Fault ? error : usage(error);
  }
}

function named(joined: string | undefined, tenant: Value, identity: Value): DaemonName | null {
  if (tenant === undefined && identity === undefined) return null;
  if (joined !== undefined) throw new Error(`say ${joined}, or --tenant and --identity`);
  if (typeof tenant !== 'string' || typeof identity !== 'string') throw new Error('say both --tenant and --identity');
  for (const slug of [tenant, identity])
    if (!isSlug(slug)) throw new Error(`${slug || 'an empty text'} is no slug: 1 to 32 letters a-z, digits and dashes`);
  return { tenant, identity };
}

function installed(verb: string, joined: string | undefined, io: Io): DaemonName {
  const disk = realDisk(stderrLog(io, 'hivebar daemon'));
  const all = installedDaemons(disk, daemonsDir(ownSurroundings(io.env)));
  const fitting = joined === undefined ? all : all.filter(({ name }) => name === joined);
  const [one, another] = fitting;
  if (one === undefined) {
    if (joined === undefined) throw new Error(`daemon ${verb}: none is installed; say --tenant and --identity`);
    throw new Error(`${joined}: no daemon of that name is installed; say --tenant and --identity, or see daemon list`);
  }
  if (another !== undefined) throw new Error(`daemon ${verb}: which? ${fitting.map(({ name }) => name).join(', ')}`);
  if (one.is === 'bad') throw new Fault('daemon-config', one.why, { is: 'machine', key: `daemon:${one.name}` });
  return one.config;
}
