import { dirname } from 'node:path';
import type { Snapshot } from '../../core/board/index.ts';
import type { PersonaId } from '../../core/model/index.ts';
import {
  createGardenSource,
  GARDEN,
  type GardenPlaces,
  probeListener,
  readProcesses,
} from '../../core/sources/garden/index.ts';
import type { Settings } from '../config/tray/index.ts';
import type { Machine } from '../host/machine.ts';
import type { Session } from '../open/index.ts';
import { toCitizenSession } from './citizen-session.ts';
import { resolveGardenPlaces } from './garden-places.node.ts';
import type { WatchedHive } from './hives.ts';

/** The garden store of this machine, watched as a hive of its own. */
export interface GardenHive {
  readonly hive: WatchedHive;
  /** Returns the native session of a citizen, unless the persona belongs to another source. @throws Fault `exec-failed` */
  findSessions(persona: PersonaId, board: Pick<Snapshot, 'personas'>): readonly Session[];
}

const PREFIX = `${GARDEN}-`;
/** How often Hivebar looks for a store that does not exist yet (garden contract 7). */
const APPEARS_EVERY_MS = 10_000;

/** Returns null when the settings switch the garden off. A store that the settings name is watched even if it does not exist. */
export function openGardenHive({ garden, contentChars }: Settings, machine: Machine): GardenHive | null {
  if (garden.is === 'off') return null;
  const { disk, clock, log } = machine;
  const places = resolveGardenPlaces(garden, machine.env);
  const source = createGardenSource({
    ...{ places, disk, clock, log, contentChars },
    probes: { readProcesses: readProcesses, probeListener },
    backfill: garden.backfill === true,
  });
  const isNamed = garden.store !== undefined;
  return {
    findSessions(persona, { personas }) {
      const record = persona.startsWith(PREFIX) ? source.record(persona.slice(PREFIX.length)) : null;
      const boardPersona = personas.find(({ id }) => id === persona);
      if (record === null || boardPersona?.source !== source.id) return [];
      return [toCitizenSession(persona, record, boardPersona.agentState.is)];
    },
    hive: {
      source,
      address: dirname(places.sessions),
      identity: ({ address }) => [GARDEN, address, places.sessions, places.mailbox],
      named: source.named,
      holdMs: null,
      kind: 'disk',
      deliversBacklog: garden.backfill === true,
      ...(isNamed ? {} : { appears: (signal: AbortSignal) => waitUntilPresent(places, machine, signal) }),
    },
  };
}

/** A machine without a garden has none on its board. */
async function waitUntilPresent(
  { sessions }: GardenPlaces,
  { disk, clock }: Machine,
  signal: AbortSignal,
): Promise<'there' | 'came'> {
  if (isThere()) return 'there';
  while (!signal.aborted && !isThere()) await clock.sleep(APPEARS_EVERY_MS, signal);
  return 'came';

  /** A directory that cannot be read counts as present, so that its fault is shown. */
  function isThere(): boolean {
    try {
      return disk.files.lstat(sessions) !== null;
    } catch {
      return true; // listing it reports what is wrong
    }
  }
}
