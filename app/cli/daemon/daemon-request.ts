import { type Io, toUsageFault } from '../../../core/command/index.ts';
import {
  type Answers,
  type AskResult,
  askDaemon,
  type DaemonName,
  type DaemonPlaces,
  findOwnDaemonPlaces,
  isSlug,
  type LinkRequest,
  loadInstalledDaemons,
  readOwnSurroundings,
  toDaemonsDir,
} from '../../../core/link/index.ts';
import { Fault } from '../../../core/model/index.ts';
import { createRealDisk } from '../../../core/state/index.ts';
import { createStderrLog } from '../stderr-log.ts';
import type { DaemonValues, DaemonVerb } from './schema.ts';

interface ResolvedDaemon {
  readonly daemon: DaemonName;
  readonly places: DaemonPlaces;
}

/** What the command line of a verb for one daemon says about it. */
type DaemonSelection = Pick<DaemonValues<'status'>, 'name' | 'tenant' | 'identity'> & { readonly verb: DaemonVerb };

/**
 * Resolves the daemon of a command line: `T-I` or `--tenant T --identity I`, else the only one that is installed. A joined name
 * must be an installed daemon; any other daemon is named with both flags.
 *
 * @throws Fault `usage`; `daemon-config` when the configuration of an installed daemon cannot be read
 */
export function resolveDaemon({ verb, name, tenant, identity }: DaemonSelection, io: Io): ResolvedDaemon {
  try {
    const daemon = parseName(name, tenant, identity) ?? findInstalled(verb, name, io);
    return { daemon, places: findOwnDaemonPlaces(daemon, io.env) };
  } catch (error) {
    throw error instanceof Fault ? error : toUsageFault(error);
  }
}

function parseName(
  joined: string | undefined,
  tenant: string | undefined,
  identity: string | undefined,
): DaemonName | null {
  if (tenant === undefined && identity === undefined) return null;
  if (joined !== undefined) throw new Error(`use either ${joined} or --tenant and --identity`);
  if (tenant === undefined || identity === undefined) throw new Error('use both --tenant and --identity');
  for (const slug of [tenant, identity])
    if (!isSlug(slug))
      throw new Error(`${slug || 'an empty text'} is not valid: use 1 to 32 letters a-z, digits and dashes`);
  return { tenant, identity };
}

function findInstalled(verb: string, joined: string | undefined, io: Io): DaemonName {
  const disk = createRealDisk(createStderrLog(io, 'hivebar daemon'));
  const daemons = loadInstalledDaemons(disk, toDaemonsDir(readOwnSurroundings(io.env)));
  const fitting = joined === undefined ? daemons : daemons.filter(({ name }) => name === joined);
  const [first, another] = fitting;
  if (first === undefined) {
    if (joined === undefined) throw new Error(`daemon ${verb}: no daemon is installed; use --tenant and --identity`);
    throw new Error(
      `${joined}: no daemon of that name is installed; use --tenant and --identity, or see hivebar daemon list`,
    );
  }
  if (another !== undefined)
    throw new Error(
      `daemon ${verb}: several daemons are installed, name one: ${fitting.map(({ name }) => name).join(', ')}`,
    );
  if (first.is === 'bad') throw new Fault('daemon-config', first.why, { is: 'machine', key: `daemon:${first.name}` });
  return first.config;
}

/** A daemon that rings waits 2 s for its surface. No other answer takes as long. */
const WITHIN_MS = 5000;

/**
 * Asks a daemon and returns its answer.
 * @throws Fault `daemon-gone` when it does not run; `daemon-refused` when it gives another answer or none
 */
export async function requestAnswer<R extends LinkRequest>(
  places: DaemonPlaces,
  request: R,
): Promise<Answers[R['verb']]> {
  const response = await askDaemon(places, request, { timeoutMs: WITHIN_MS });
  if (response.is === 'answered') return response.answer;
  throw new Fault(response.is === 'not-running' ? 'daemon-gone' : 'daemon-refused', formatRefusal(places, response), {
    is: 'machine',
    key: `daemon:${places.name}`,
  });
}

function formatRefusal(
  { name, socket }: DaemonPlaces,
  response: Exclude<AskResult<LinkRequest['verb']>, { is: 'answered' }>,
): string {
  switch (response.is) {
    case 'not-running':
      return `the daemon ${name} does not run: nothing answers at ${socket}`;
    case 'refused':
      return `the daemon ${name} refused${response.error === null ? '' : ` (${response.error})`}: ${response.message}`;
    case 'bad-answer':
      return `the daemon ${name} sent an answer that this version does not know`;
    case 'silent':
      return `the daemon ${name} does not answer within ${WITHIN_MS / 1000} s`;
  }
}
