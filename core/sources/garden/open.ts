import { dirname } from 'node:path';
import { waitUntil } from '../../services/index.ts';
import type { SourceHost, WatchedSource } from '../module.ts';
import { toCitizenSession } from './citizen-session.ts';
import { resolveGardenPlaces } from './own-places.node.ts';
import { type GardenPlaces, probeListener, readProcesses } from './read/index.ts';
import { GARDEN, GARDEN_PREFIX, type GardenSettings } from './settings.ts';
import { createGardenSource } from './source.ts';

/** How often Hivebar looks for a store that does not exist yet (garden contract 7). */
const APPEARS_EVERY_MS = 10_000;

/**
 * Opens the garden store of this machine, watched as one hive. A store that the settings name is watched even if it does not
 * exist. Null when the settings switch the garden off.
 */
export function openGarden({ garden }: GardenSettings, host: SourceHost): WatchedSource | null {
  if (garden.is === 'off') return null;
  const { disk, clock, log, contentChars } = host;
  const places = resolveGardenPlaces(garden.store, host.env);
  const source = createGardenSource({
    ...{ places, disk, clock, log, contentChars },
    probes: { readProcesses, probeListener },
    backfill: garden.backfill === true,
  });
  const isNamed = garden.store !== undefined;
  return {
    hives: [
      {
        source,
        address: dirname(places.sessions),
        identity: ({ address }) => [GARDEN, address, places.sessions, places.mailbox],
        named: source.named,
        holdMs: null,
        kind: 'disk',
        deliversBacklog: garden.backfill === true,
        ...(isNamed ? {} : { appears: (signal: AbortSignal) => waitUntilPresent(places, host, signal) }),
      },
    ],
    findSessions(persona) {
      if (persona.source !== source.id || !persona.id.startsWith(GARDEN_PREFIX)) return [];
      const record = source.record(persona.id.slice(GARDEN_PREFIX.length));
      return record === null ? [] : [toCitizenSession(persona.id, record, persona.agent)];
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

/** A machine without a garden has none on its board. */
async function waitUntilPresent(
  { sessions }: GardenPlaces,
  { disk, clock }: SourceHost,
  signal: AbortSignal,
): Promise<'there' | 'came'> {
  if (isThere()) return 'there';
  await waitUntil(isThere, APPEARS_EVERY_MS, clock, signal);
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
