import { join } from 'node:path';
import { type Event, isMail, toOtherEventId } from '../../core/events/index.ts';
import { type LocalHive, openContinuity, type TrackedMail } from '../../core/inbox/index.ts';
import { formatIso, type Instant, type PersonaId, parseIso } from '../../core/model/index.ts';
import type { Outbox } from '../../core/sinks/outbox/index.ts';
import type { WatchedHive } from '../../core/sources/module.ts';
import { type Database, readPrivate, toStem } from '../../core/state/index.ts';
import type { Machine } from '../host/machine.node.ts';
import type { SavedTrayState } from '../sources/hive-watchers.ts';
import { findLocalName } from '../sources/local-hive.ts';

export interface ReconcileStoreOptions {
  readonly db: Database;
  readonly local: LocalHive;
  /** The local hive, as the tray process watches it. */
  readonly hive: Pick<WatchedHive, 'named'>;
  readonly outbox: Pick<Outbox<SavedTrayState>, 'behind' | 'getNewestIds' | 'readAllSaved' | 'lastMail' | 'addEvent'>;
  /** The state directory, which contains `follow/`. */
  readonly state: string;
  readonly contentChars: number | null;
  /** Set when the store was recovered from a damaged one: messages created since then may be missing anywhere. */
  readonly recoveredSince: Instant | null;
  readonly machine: Pick<Machine, 'disk' | 'clock' | 'random' | 'log'>;
}

/** More events than an outbox can have of one persona after it was filled from its files. */
const MAX_EVENTS_READ = 1_000_000;
const LONGEST_POSITION = 64 * 1024;
const CUT = '\n[recovered from the event file: the rest of this message is lost]';

/** A persona of the local hive, and the highest message ids that are known of it outside the tables. */
interface Trace {
  readonly persona: PersonaId;
  readonly name: string;
  /** The highest id that was delivered, or that a watcher or follower has reached. */
  readonly highest: number;
  /** The highest id that a follower of its events has reached. */
  readonly followed: number;
  /**
   * Its checkpoint belongs to another inbox that had the same name before. Ids are raised above it, but the store did not go
   * back.
   */
  readonly isForeign: boolean;
}

/**
 * Compares the local hive with what was delivered from it. Runs at start, before anything is delivered. If a higher id is known
 * outside the tables than in them, the store went back. Then the next id is raised above all known ids, messages that only an
 * event file still has are restored, and each persona concerned gets one `gap` event. Costs next to nothing when all is well.
 *
 * @throws Fault `database`
 */
export function reconcileStore(options: ReconcileStoreOptions): void {
  const { db, local, outbox, machine } = options;
  const { clock, random, log } = machine;
  const continuity = openContinuity(db);
  const before = continuity.lastId();
  const { recoveredSince } = options;
  if (recoveredSince !== null) continuity.recount();
  const traces = findTraces(options);
  const floor = Math.max(before, ...traces.map(({ highest }) => highest));
  const ahead = traces.filter(({ highest, isForeign }) => highest > before && !isForeign);
  const concerned = new Map<PersonaId, string | null>(outbox.behind.map(({ persona, after }) => [persona, after]));
  for (const { persona } of ahead) if (!concerned.has(persona)) concerned.set(persona, null);
  if (floor === before && concerned.size === 0 && recoveredSince === null) return;

  const delivered = traces.filter(({ isForeign }) => !isForeign).flatMap((trace) => listMailAbove(trace, 0, options));
  const isLost = ({ id, created }: TrackedMail): boolean =>
    id > before || (recoveredSince !== null && created > recoveredSince);
  const lost = delivered.filter(isLost);
  // Messages newer than every delivered one were created after the store went back.
  const newest =
    delivered.length === 0
      ? Number.MAX_SAFE_INTEGER
      : delivered.reduce((newestSoFar, { created }) => Math.max(newestSoFar, created), 0);
  const restored = continuity.restore(lost);
  const moved = continuity.raise(floor, newest);
  local.changedElsewhere();
  if (concerned.size === 0) {
    if (recoveredSince !== null) log.warn(`${restored} messages were put back from the event files`);
    if (floor > before)
      log.info(`the next message id is ${floor + 1}: an inbox of the same name had ids up to ${floor}`);
    return;
  }
  const events = outbox.behind.reduce((sum, { events: n }) => sum + n, 0);
  log.error(
    `the store went back: ${db.path} is older than the events delivered from it (${[...concerned.keys()].join(', ')}). ` +
      `The next message id is ${floor + moved + 1}; ${events} events and ${restored} messages were recovered from the event files` +
      `${moved === 0 ? '' : `, ${moved} messages that arrived since have new ids`}; anything else newer than the backup is lost`,
  );
  const run = random.hex(8);
  const at = formatIso(clock.now());
  for (const [persona, after] of concerned) {
    const event: Event = {
      event: 'gap',
      source: 'hivebar',
      ts: at,
      persona,
      reason: 'store-went-back',
      after,
      cursor_at: outbox.getNewestIds().get(persona) ?? 0,
      event_id: toOtherEventId(persona, 'gap', run, 1),
      wake_class: 'diagnostic',
    };
    outbox.addEvent(persona, toStem(persona), event);
  }
}

function findTraces({ local, hive, outbox, state, machine }: ReconcileStoreOptions): readonly Trace[] {
  const names = new Map(local.personas().map(({ name }) => [hive.named(name).id, name]));
  const savedStates = outbox.readAllSaved();
  const newest = outbox.getNewestIds();
  const positions = readFollowedIds(join(state, 'follow'), machine);
  const traces: Trace[] = [];
  for (const persona of new Set([...newest.keys(), ...names.keys(), ...positions.keys()])) {
    const savedState = savedStates.get(persona);
    const identity = savedState?.identity;
    const isOurs = Array.isArray(identity) && identity[0] === 'local';
    // Without a checkpoint only the name tells whose persona this is. An id that is too high costs nothing, one too low costs a
    // message.
    const name = names.get(persona) ?? (isOurs ? String(identity[1]) : findLocalName(persona, hive));
    if (name === null) continue;
    const followed = positions.get(persona) ?? 0;
    const highest = Math.max(newest.get(persona) ?? 0, isOurs ? (savedState?.cursor ?? 0) : 0, followed);
    traces.push({ persona, name, highest, followed, isForeign: savedState !== undefined && !isOurs });
  }
  return traces;
}

/** Reads the positions of all followers and returns, for each persona, the highest message id among them. */
function readFollowedIds(folder: string, { disk }: Pick<Machine, 'disk'>): ReadonlyMap<PersonaId, number> {
  const highest = new Map<PersonaId, number>();
  const namesIn = (path: string): readonly string[] =>
    disk.files.lstat(path)?.kind === 'directory' ? disk.files.readdir(path) : [];
  const positions = namesIn(folder).flatMap((stem) =>
    namesIn(join(folder, stem)).map((name) => join(folder, stem, name)),
  );
  for (const path of positions) {
    if (!path.endsWith('.json')) continue;
    try {
      const text = Buffer.from(readPrivate(disk, path, LONGEST_POSITION) ?? []).toString('utf8');
      const { persona, event_id: eventId } = JSON.parse(text) as Readonly<Record<string, unknown>>;
      if (typeof persona !== 'string' || typeof eventId !== 'string' || !eventId.startsWith(`${persona}:`)) continue;
      const id = Number(/:(\d+)$/.exec(eventId)?.[1] ?? 0);
      if (Number.isSafeInteger(id)) highest.set(persona, Math.max(highest.get(persona) ?? 0, id));
    } catch (error) {
      disk.log.info(`${path} names no message ids: ${String(error)}`);
    }
  }
  return highest;
}

/** Lists the messages above an id, as their events have them. */
function listMailAbove(
  { persona, name, followed }: Trace,
  id: number,
  { outbox, contentChars, machine }: ReconcileStoreOptions,
): readonly TrackedMail[] {
  return outbox.lastMail(persona, MAX_EVENTS_READ).flatMap((event): TrackedMail[] => {
    if (!isMail(event) || event.id <= id) return [];
    const created: Instant = parseIso(event.created ?? '') ?? machine.clock.now();
    const text = event.content ?? '';
    const isCut = contentChars === null || [...text].length >= contentChars;
    const isRead = event.self === true || event.id <= followed;
    const content = isCut ? `${text}${CUT}` : text;
    return [{ id: event.id, to: name, from: event.from ?? '?', content, created: Math.floor(created), isRead }];
  });
}
