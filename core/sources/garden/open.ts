import { dirname } from 'node:path';
import { formatQuantity } from '../../format/index.ts';
import { type AgentState, Fault, type PersonaId } from '../../model/index.ts';
import { waitUntil } from '../../services/index.ts';
import type { NativeSession, SourceEnvironment, SourceHost, SourcePlace, WatchedSource } from '../module.ts';
import { resolveGardenPlaces } from './doctor.node.ts';
import { type Backend, type GardenPlaces, type MetaRecord, probeListener, readProcesses } from './read/index.ts';
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
    findSessionOwner(sessionId) {
      const record = source.findBySession(sessionId);
      return record === null ? null : source.named(record.gardenId).id;
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

/** The garden store of this machine. */
export function findGardenPlaces({ garden }: GardenSettings, host: SourceEnvironment): readonly SourcePlace[] {
  if (garden.is === 'off') return [];
  const { sessions } = resolveGardenPlaces(garden.store, host.env);
  const isThere = host.disk.files.lstat(sessions)?.kind === 'directory';
  const count = isThere ? host.disk.files.readdir(sessions).filter((name) => name.endsWith('.meta.json')).length : 0;
  return [{ what: 'garden', where: dirname(sessions), found: isThere ? formatQuantity(count, 'citizen') : null }];
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

/** The arguments with which the program of each backend resumes a session. */
const RESUME: Readonly<Record<Backend, (id: string) => readonly string[]>> = {
  'claude-code': (id) => ['claude', '--resume', id],
  codex: (id) => ['codex', 'resume', id],
  antigravity: (id) => ['agy', '--conversation', id],
  pi: (id) => ['pi', '--session', id],
};

const NOT_IN_AN_ITEM = /[\p{Cc}\u2028\u2029]/u;

/**
 * Describes the native session of a citizen. A session whose agent is alive cannot be resumed, because two agents would write
 * to it.
 * @throws Fault `exec-failed` when the record names a session that must not be passed to a program
 */
export function toCitizenSession(persona: PersonaId, record: MetaRecord, agent: AgentState['is']): NativeSession {
  const { backend, nativeSessionId: id, cwd } = record;
  if (id.startsWith('-') || NOT_IN_AN_ITEM.test(id) || !id.isWellFormed()) {
    const message = `the record of ${persona} names the session ${JSON.stringify(id.slice(0, 80))}, which cannot be passed to ${backend}`;
    throw new Fault('exec-failed', message, { is: 'machine', key: 'open' });
  }
  return { persona, id, cwd, resume: agent === 'live' ? null : RESUME[backend](id) };
}
