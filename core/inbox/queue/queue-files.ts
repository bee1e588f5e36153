import { join } from 'node:path';
import type { Fault, Instant } from '../../model/index.ts';
import { createRefusal, type Disk, toIoFault, toStem } from '../../state/index.ts';
import type { QueueMachine } from './entry.ts';
import { type Insert, takeOver } from './take-over.ts';

/** An announced session, whether it is over or not. */
export interface QueueSession {
  readonly persona: string;
  /** The agent program's own name for the session; null: it gave none. */
  readonly id: string | null;
  /** Absolute. */
  readonly cwd: string;
  readonly announcedAt: Instant;
}

interface QueueFile {
  readonly path: string;
  readonly persona: string;
  /** The working folder with the file; null: the file is in Hivebar's own directory. */
  readonly folder: string | null;
}

const DIRECTORY = 'inject-queue';
/** Session ids that foreign writers use unchanged as file names in `.runtime/inject-queue/`. */
const PLAIN = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/;

/** `<state>/inject-queue/<stem of the session>.jsonl` */
export function toQueuePath(state: string, session: string): string {
  return join(state, DIRECTORY, `${toStem(session)}.jsonl`);
}

/**
 * Lists every file that may hold lines for a persona. It includes the files of sessions that are over, whose lines are for the
 * next session. The files are in Hivebar's own directory, and in `.runtime/inject-queue/` of each folder where the persona
 * worked. A session that two personas announced belongs to the later one. Files with unknown names are ignored: a folder's
 * content may come from a download, but nobody else knows the name of a session.
 */
export function listQueueFiles(state: string, sessions: readonly QueueSession[]): readonly QueueFile[] {
  const persona = new Map<string, string>();
  const folders = new Map<string, Set<string>>();
  for (const session of [...sessions].sort((a, b) => a.announcedAt - b.announcedAt)) {
    if (session.id !== null) persona.set(session.id, session.persona);
    folders.set(session.persona, (folders.get(session.persona) ?? new Set()).add(session.cwd));
  }
  const places = new Map<string, QueueFile>();
  const add = (place: QueueFile): void => void (places.has(place.path) || places.set(place.path, place));
  for (const [id, name] of persona) {
    add({ path: toQueuePath(state, id), persona: name, folder: null });
    if (!PLAIN.test(id)) continue;
    for (const folder of folders.get(name) ?? []) {
      add({ path: join(folder, '.runtime', DIRECTORY, `${id}.jsonl`), persona: name, folder });
    }
  }
  return [...places.values()];
}

/** The directories that may hold queues. If none of them exists, nothing can be taken over. */
export function listQueueDirectories(state: string, sessions: readonly Pick<QueueSession, 'cwd'>[]): readonly string[] {
  const folders = new Set(sessions.map(({ cwd }) => cwd));
  return [join(state, DIRECTORY), ...[...folders].map((folder) => join(folder, '.runtime', DIRECTORY))];
}

/**
 * Whether a working folder has a queue directory. A symlink is refused: it could lead to files of the same name that are not
 * queues, such as the transcript of the session.
 *
 * @throws Fault `unreadable`, or what `lstat` throws
 */
function hasQueues({ files, uid }: Disk, folder: string): boolean {
  for (const path of [join(folder, '.runtime'), join(folder, '.runtime', DIRECTORY)]) {
    const stat = files.lstat(path);
    if (stat === null) return false;
    if (stat.kind !== 'directory') {
      throw createRefusal(path, `is not a directory but a ${stat.kind}, so its queues are not read`, 'unreadable');
    }
    if (uid !== null && stat.uid !== uid)
      throw createRefusal(path, `belongs to user ${stat.uid}, not to the user of Hivebar`, 'unreadable');
  }
  return true;
}

/** Files in Hivebar's own directory that hold something but belong to no known session. They are reported to a person. */
export function findStrayQueues({ files }: Disk, state: string, sessions: readonly QueueSession[]): readonly string[] {
  const directory = join(state, DIRECTORY);
  if (files.lstat(directory)?.kind !== 'directory') return [];
  const known = new Set(sessions.flatMap(({ id }) => (id === null ? [] : [toQueuePath(state, id)])));
  return files
    .readdir(directory)
    .map((name) => join(directory, name))
    .filter((path) => /\.jsonl(\.draining)?$/.test(path) && !known.has(path.replace(/\.draining$/, '')))
    .filter((path) => (files.lstat(path)?.size ?? 0) > 0)
    .sort();
}

export interface TakeOverAllOptions {
  readonly machine: QueueMachine;
  /** Hivebar's state directory. */
  readonly state: string;
  /** All stored sessions of every persona, and the asking session if it is not stored yet. */
  readonly sessions: readonly QueueSession[];
  /** Whose queues; null: everybody's. */
  readonly persona: string | null;
  readonly insert: Insert;
  /** For all locks together: 250 for a hook; 0 for the tray, which tries again at its next tick. */
  readonly waitMs: number;
}

export interface TakeOverAllResult {
  readonly items: number;
  readonly bad: number;
  /** Files whose lock was held; they are unchanged. */
  readonly held: readonly string[];
  /** Failures; the other files were processed anyway. */
  readonly faults: readonly Fault[];
}

/**
 * Takes over every queue of one persona or of all. It runs before a drain, and once per tick of the tray. Without lines it costs
 * two `lstat` calls per file. Never throws for a file. A failing `insert` is also one of the faults, and its lines wait for the
 * next time.
 */
export function takeOverAll({
  machine,
  state,
  sessions,
  persona,
  insert,
  waitMs,
}: TakeOverAllOptions): TakeOverAllResult {
  const { clock, disk } = machine;
  const until = clock.monotonic() + waitMs;
  const held: string[] = [];
  const faults: Fault[] = [];
  let items = 0;
  let bad = 0;
  const orFault = <T>(path: string, instead: T, attempt: () => T): T => {
    try {
      return attempt();
    } catch (error) {
      faults.push(toIoFault(error, path, 'unreadable'));
      return instead;
    }
  };
  const folders = new Map<string, boolean>();
  const isThere = (folder: string): boolean => {
    const known = folders.get(folder) ?? orFault(folder, false, () => hasQueues(disk, folder));
    folders.set(folder, known);
    return known;
  };
  for (const { path, persona: whose, folder } of listQueueFiles(state, sessions)) {
    if (persona !== null && whose !== persona) continue;
    if (folder !== null && !isThere(folder)) continue;
    const result = orFault(path, null, () =>
      takeOver(machine, { path, persona: whose }, insert, Math.max(0, until - clock.monotonic())),
    );
    if (result === null) continue;
    items += result.items;
    bad += result.bad;
    if (result.isHeld) held.push(path);
  }
  return { items, bad, held, faults };
}
