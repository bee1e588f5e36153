import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Fault } from '../../core/model/index.ts';
import { realClock, realClocks, realRandom } from '../../core/ports/index.ts';
import { type Outbox, openOutbox, toEventFilePath } from '../../core/sinks/outbox/index.ts';
import { listReservedIds } from '../../core/sources/derived.ts';
import { parseHiveUrl, toInboxIdentity, toKijitoPersona } from '../../core/sources/index.ts';
import {
  computeEventsPaths,
  computeStatePaths,
  type Dirs,
  type Disk,
  ensurePrivateDir,
  isLocked,
  lockFile,
  openStore,
  toStem,
  writeAtomically,
} from '../../core/state/index.ts';
import type { SavedState } from '../../core/watcher/index.ts';
import type { Settings } from '../config/tray/index.ts';
import type { WatchPlan } from '../config/watch/index.ts';
import { createPathFinder } from '../headless/watch-sinks.ts';
import type { SavedTrayState } from '../sources/hive-watchers.ts';
import { ABSENT, findPersona, formatBaseUrl, type OldFile, type OldIdentity, readOldFile } from './deployed/index.ts';
import { DATABASE } from './open-local-hive.ts';

/** Who watches an inbox here, and where its events are. */
interface MigrationTarget {
  readonly persona: string;
  /** The file that an agent follows from now on. Null: events go elsewhere. */
  readonly events: string | null;
}

/** The position that a persona already has here. */
type CurrentPosition =
  | { readonly is: 'none' }
  | { readonly is: 'at'; readonly cursor: number | null }
  /** The position is of another inbox or cannot be read, so a person must decide. */
  | { readonly is: 'unclear'; readonly why: string };

interface PositionLookup {
  /** Returns a reason when nobody here watches that inbox. */
  findTarget(identity: OldIdentity): MigrationTarget | { readonly why: string };
  findCurrent(target: MigrationTarget, identity: OldIdentity): CurrentPosition;
}

export type MigrationDecision = { readonly path: string } & (
  | {
      readonly is: 'adopted';
      readonly target: MigrationTarget;
      readonly from: number | null;
      readonly identity: OldIdentity;
      readonly saved: SavedState & { readonly cursor: number };
      readonly keys: Readonly<Record<string, unknown>>;
    }
  /** The position here is the same or newer, and stays. */
  | { readonly is: 'here'; readonly target: MigrationTarget; readonly at: number; readonly old: number }
  /** The old file has no position yet. */
  | { readonly is: 'empty'; readonly target: MigrationTarget }
  | { readonly is: 'left'; readonly why: string }
);

/** Decides about each old file. Of several files of one inbox the furthest position counts. No position is ever moved back. */
function decide(files: readonly OldFile[], lookup: PositionLookup): readonly MigrationDecision[] {
  const reached = new Map<string, number>();
  return files.toSorted((a, b) => getCursor(b) - getCursor(a)).map((file) => decideFile(file, lookup, reached));
}

function decideFile({ path, state }: OldFile, lookup: PositionLookup, reached: Map<string, number>): MigrationDecision {
  if (state.is === 'unusable') return { is: 'left', path, why: state.why };
  const { identity, saved, keys } = state;
  const target = lookup.findTarget(identity);
  if ('why' in target) return { is: 'left', path, why: target.why };
  const { cursor } = saved;
  if (cursor === null) return { is: 'empty', path, target };
  const current = lookup.findCurrent(target, identity);
  if (current.is === 'unclear') return { is: 'left', path, why: current.why };
  const from = reached.get(target.persona) ?? (current.is === 'at' ? current.cursor : null);
  if (from !== null && from >= cursor) return { is: 'here', path, target, at: from, old: cursor };
  reached.set(target.persona, cursor);
  return { is: 'adopted', path, target, from, identity, saved: { ...saved, cursor }, keys };
}

function getCursor({ state }: OldFile): number {
  return state.is === 'position' ? (state.saved.cursor ?? -1) : -1;
}

/**
 * Migrates positions into the state files that a headless watch of this plan reads.
 * @throws Fault `lock-held` while the watch runs; `unwritable`, `no-space`
 */
export function migrateToHeadless(
  files: readonly OldFile[],
  plan: WatchPlan & { readonly stateFile: string },
  disk: Disk,
  dryRun: boolean,
): readonly MigrationDecision[] {
  const names = files.flatMap(({ state }) => (state.is === 'position' ? (findPersona(state.identity) ?? []) : []));
  const { stateFile } = plan;
  const getPath = createPathFinder(plan, disk, names, (...how) => computeStatePaths(stateFile, ...how));
  const decisions = decide(files, createLookup(plan, names, getPath, disk));
  using held = new DisposableStack();
  for (const decision of decisions) {
    if (decision.is !== 'adopted') continue;
    const path = getPath(decision.target.persona);
    if (dryRun && isLocked(disk, `${path}.lock`))
      throw new Fault('lock-held', `${path}.lock is locked by another process: stop it`, { is: 'machine', key: path });
    if (!dryRun) held.use(lockFile(disk, path));
  }
  if (dryRun) return decisions;
  for (const decision of decisions)
    if (decision.is === 'adopted')
      writeAtomically(disk, realRandom, getPath(decision.target.persona), `${JSON.stringify(decision.keys)}\n`);
  return decisions;
}

function createLookup(
  plan: WatchPlan,
  names: readonly string[],
  getPath: (persona: string) => string,
  disk: Disk,
): PositionLookup {
  const hive = parseHiveUrl(plan.hive, { is: 'source', key: 'kijito' });
  const { emit } = plan;
  const getEventsPath =
    emit.is === 'template'
      ? createPathFinder(plan, disk, names, (...how) => computeEventsPaths(emit.template, ...how))
      : (): null => null;
  return {
    findTarget(identity): MigrationTarget | { why: string } {
      const persona = findPersona(identity);
      if (
        persona === null ||
        !isDeepStrictEqual(identity, JSON.parse(JSON.stringify(toInboxIdentity(hive.inbox(persona)))))
      )
        return { why: `belongs to no inbox of ${plan.hive}, the hive that is watched` };
      if (plan.targets.is === 'some' && !plan.targets.personas.includes(persona))
        return { why: `belongs to ${persona}, which is not among the watched personas` };
      return { persona, events: getEventsPath(persona) };
    },
    findCurrent: ({ persona }, identity) => readCurrent(getPath(persona), identity),
  };
}

function readCurrent(path: string, identity: OldIdentity): CurrentPosition {
  const { state } = readOldFile(path);
  if (state.is === 'position') {
    if (isDeepStrictEqual(state.identity, identity)) return { is: 'at', cursor: state.saved.cursor };
    return {
      is: 'unclear',
      why: `identity mismatch: ${path} belongs to another inbox; move it away first`,
    };
  }
  if (state.why === ABSENT) return { is: 'none' };
  return { is: 'unclear', why: `cannot be imported: ${path} ${state.why}; move it away first` };
}

/** The file that the tray process claims while it runs (see its `claimInstance`). */
const CLAIM = 'hivebar.json';
const JOURNAL = 'outbox.journal';

/**
 * Migrates positions into the database of the tray process, for the hives that the settings name.
 * @throws Fault `lock-held` while the tray process runs; `database`, `unwritable`, `no-space`
 */
export async function migrateToTray(
  files: readonly OldFile[],
  settings: Partial<Settings>,
  dirs: Dirs,
  disk: Disk,
  dryRun: boolean,
): Promise<readonly MigrationDecision[]> {
  const claim = join(dirs.run, CLAIM);
  if (isLocked(disk, `${claim}.lock`)) throw new Fault('lock-held', TRAY_RUNS, { is: 'machine', key: claim });
  if (dryRun && disk.files.lstat(join(dirs.state, DATABASE)) === null)
    return decideAll(files, settings, dirs, new Map());
  ensurePrivateDir(disk, dirs.run);
  using _lock = lockFile(disk, claim);
  using db = openStore(join(dirs.state, DATABASE));
  using outbox = openOutbox<SavedTrayState>({
    db,
    disk,
    clock: realClock,
    clocks: realClocks,
    directory: join(dirs.state, 'events'),
    journal: join(dirs.state, JOURNAL),
    onBehind: (persona, fault) => {
      if (fault !== null) disk.log.warn(`${persona}: the event file could not be written yet: ${fault.explain()}`);
    },
  });
  const decisions = decideAll(files, settings, dirs, outbox.readAllSaved());
  if (!dryRun) for (const decision of decisions) if (decision.is === 'adopted') await adopt(decision, outbox);
  return decisions;
}

const TRAY_RUNS = 'Hivebar is running, and its positions can be changed only while it is closed: quit it';

async function adopt(
  { target, identity, saved }: Extract<MigrationDecision, { is: 'adopted' }>,
  outbox: Outbox<SavedTrayState>,
): Promise<void> {
  const sink = outbox.sinkFor(target.persona, toStem(target.persona));
  await sink.open();
  const ack = await sink.take([], { ...saved, identity }, new AbortController().signal);
  if (ack.is === 'stopped') throw ack.fault;
}

function decideAll(
  files: readonly OldFile[],
  settings: Partial<Settings>,
  dirs: Dirs,
  stored: ReadonlyMap<string, SavedTrayState>,
): readonly MigrationDecision[] {
  const findTarget = createTargetFinder(settings, join(dirs.state, 'events'));
  return decide(files, {
    findTarget,
    findCurrent({ persona }, identity) {
      const position = stored.get(persona);
      // A position of another inbox is useless: the settings now name another hive.
      if (position === undefined || !isDeepStrictEqual(position.identity, identity)) return { is: 'none' };
      return { is: 'at', cursor: position.cursor };
    },
  });
}

/**
 * Creates a function that finds who watches an inbox. It uses the hives of the settings, and names personas as the tray process
 * does.
 */
function createTargetFinder({ primary, hives = [] }: Partial<Settings>, events: string) {
  const reserved = listReservedIds({ hives });
  const watchedHives = [
    ...(primary?.is === 'kijito' ? [{ base: primary.base, prefix: '' }] : []),
    ...hives.map(({ name, base }) => ({ base, prefix: `${name}-` })),
  ].map(({ base, prefix }) => ({
    hive: parseHiveUrl(base, { is: 'source', key: base }),
    members: { is: 'directory', prefix, reserved } as const,
  }));
  return (identity: OldIdentity): MigrationTarget | { readonly why: string } => {
    const address = findPersona(identity);
    if (address === null) return { why: 'belongs to a single address (--url), which Hivebar does not watch' };
    const ours = watchedHives.find(({ hive }) =>
      isDeepStrictEqual(identity, JSON.parse(JSON.stringify(toInboxIdentity(hive.inbox(address))))),
    );
    if (ours === undefined) return { why: formatUnknownHive(formatBaseUrl(identity), primary !== undefined) };
    const { id } = toKijitoPersona(address, ours.members);
    return { persona: id, events: toEventFilePath(events, toStem(id)) };
  };
}

/**
 * Formats the next step for an unknown hive. Before the first run nothing has decided yet whose personas have the bare names.
 */
function formatUnknownHive(base: string, isDecided: boolean): string {
  const first = JSON.stringify({ is: 'kijito', base });
  const step = isDecided ? `hivebar hive add ${base}` : `hivebar config set primary '${first}'`;
  return `belongs to ${base}, a hive that the settings do not name; run ${step}, then migrate again`;
}
