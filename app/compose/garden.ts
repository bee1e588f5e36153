import { dirname } from 'node:path';
import type { Snapshot } from '../../core/board/index.ts';
import type { PersonaId } from '../../core/model/index.ts';
import { GARDEN, gardenSource, listenerAt, type Places, realProcesses } from '../../core/sources/garden/index.ts';
import type { Settings } from '../config/tray/index.ts';
import type { Session } from '../open/index.ts';
import { gardenPlaces } from './garden-places.node.ts';
import { sessionOfCitizen } from './garden-sessions.ts';
import type { WatchedHive } from './hives.ts';
import type { Machine } from './machine.ts';

/** The garden store of this machine, watched as a hive of its own. */
export interface WatchedGarden {
  readonly hive: WatchedHive;
  /** The native session of a citizen, unless it is another's persona. @throws Fault `exec-failed` */
  sessionsOf(persona: PersonaId, board: Pick<Snapshot, 'personas'>): readonly Session[];
}

const PREFIX = `${GARDEN}-`;
/** A store that is not there yet is asked for so often (garden contract 7). */
const APPEARS_EVERY_MS = 10_000;

/** Null when the settings say so. A store that is named in them is watched whether it is there or not. */
export function gardenOf({ garden, contentChars }: Settings, machine: Machine): WatchedGarden | null {
  if (garden.is === 'off') return null;
  const { disk, clock, log } = machine;
  const places = gardenPlaces(garden, machine.env);
  const source = gardenSource({
    ...{ places, disk, clock, log, contentChars },
    asks: { processes: realProcesses, listenerAt },
    backfill: garden.backfill === true,
  });
  const isNamed = garden.store !== undefined;
  return {
    sessionsOf(persona, { personas }) {
      const record = persona.startsWith(PREFIX) ? source.record(persona.slice(PREFIX.length)) : null;
      const shown = personas.find(({ id }) => id === persona);
      if (record === null || shown?.source !== source.id) return [];
      return [sessionOfCitizen(persona, record, shown.vital.is)];
    },
    hive: {
      source,
      address: dirname(places.sessions),
      identity: ({ address }) => [GARDEN, address, places.sessions, places.mailbox],
      named: source.named,
      holdMs: null,
      ...{ isLocal: false, isHere: true, tellsAll: garden.backfill === true },
      ...(isNamed ? {} : { appears: (signal: AbortSignal) => appears(places, machine, signal) }),
    },
  };
}

/** A machine without a garden has none on its board. */
async function appears({ sessions }: Places, { disk, clock }: Machine, signal: AbortSignal): Promise<'there' | 'came'> {
  if (isThere()) return 'there';
  while (!signal.aborted && !isThere()) await clock.sleep(APPEARS_EVERY_MS, signal);
  return 'came';

  /** What can not be looked at is there, and its trouble is shown. */
  function isThere(): boolean {
    try {
      return disk.files.lstat(sessions) !== null;
    } catch {
      return true; // whoever lists it says what is wrong
    }
  }
}
