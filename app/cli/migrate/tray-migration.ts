import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Fault } from '../../../core/model/index.ts';
import { realClock, realClocks } from '../../../core/ports/index.ts';
import { type Outbox, openOutbox, toEventFilePath } from '../../../core/sinks/outbox/index.ts';
import { listReservedPrefixes } from '../../../core/sources/derived.ts';
import { parseHiveUrl, toInboxIdentity, toKijitoPersona } from '../../../core/sources/index.ts';
import {
  type Dirs,
  type Disk,
  ensurePrivateDir,
  isLocked,
  lockFile,
  openStore,
  toStem,
} from '../../../core/state/index.ts';
import type { Settings } from '../../config/tray/index.ts';
import type { SavedTrayState } from '../../sources/hive-watchers.ts';
import { findPersona, formatBaseUrl, type OldFile, type OldIdentity } from '../deployed/index.ts';
import { DATABASE } from '../open-local-hive.ts';
import { decide, type MigrationDecision, type MigrationTarget } from './decide.ts';

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
      if (fault !== null) disk.log.warn(`${persona}: its event file waits: ${fault.explain()}`);
    },
  });
  const decisions = decideAll(files, settings, dirs, outbox.readAllSaved());
  if (!dryRun) for (const decision of decisions) if (decision.is === 'adopted') await adopt(decision, outbox);
  return decisions;
}

const TRAY_RUNS = 'Hivebar runs, and only while it does not its positions can be changed: quit it';

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
  const reserved = listReservedPrefixes({ hives });
  const watchedHives = [
    ...(primary?.is === 'kijito' ? [{ base: primary.base, prefix: '' }] : []),
    ...hives.map(({ name, base }) => ({ base, prefix: `${name}-` })),
  ].map(({ base, prefix }) => ({
    hive: parseHiveUrl(base, { is: 'source', key: base }),
    members: { is: 'directory', prefix, reserved } as const,
  }));
  return (identity: OldIdentity): MigrationTarget | { readonly why: string } => {
    const address = findPersona(identity);
    if (address === null) return { why: 'is of a single address (--url), which Hivebar does not watch' };
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
  return `is of ${base}, a hive that the settings do not name; run ${step}, then migrate again`;
}
