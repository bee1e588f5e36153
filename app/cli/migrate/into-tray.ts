import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Fault, RESERVED_PREFIXES } from '../../../core/model/index.ts';
import { realClock, realClocks } from '../../../core/ports/index.ts';
import { eventFilePath, type Outbox, openOutbox } from '../../../core/sinks/outbox/index.ts';
import { hiveAt, identityOf, kijitoPersona } from '../../../core/sources/index.ts';
import {
  type Dirs,
  type Disk,
  ensurePrivateDir,
  isLocked,
  lockFile,
  openStore,
  stemOf,
} from '../../../core/state/index.ts';
import { directory } from '../../compose/hives.ts';
import type { Kept } from '../../compose/tray-watches.ts';
import type { Settings } from '../../config/tray/index.ts';
import { baseOf, type OldFile, type OldIdentity, personaIn } from '../deployed/index.ts';
import { DATABASE } from '../with-hive.ts';
import { type Decision, decide, type Target } from './decide.ts';

/** What the tray process has claimed while it runs (see its `claimInstance`). */
const CLAIM = 'hivebar.json';
const JOURNAL = 'outbox.journal';

/**
 * Into the positions that the tray process keeps, of the hives that the settings name.
 * @throws Fault `lock-held` while it runs; `database`, `unwritable`, `no-space`
 */
export async function intoTray(
  files: readonly OldFile[],
  settings: Partial<Settings>,
  dirs: Dirs,
  disk: Disk,
  dryRun: boolean,
): Promise<readonly Decision[]> {
  const claim = join(dirs.run, CLAIM);
  if (isLocked(disk, `${claim}.lock`)) throw new Fault('lock-held', TRAY_RUNS, { is: 'machine', key: claim });
  if (dryRun && disk.files.lstat(join(dirs.state, DATABASE)) === null) return decided(files, settings, dirs, new Map());
  ensurePrivateDir(disk, dirs.run);
  using _lock = lockFile(disk, claim);
  using db = openStore(join(dirs.state, DATABASE));
  using outbox = openOutbox<Kept>({
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
  const decisions = decided(files, settings, dirs, outbox.allKept());
  if (!dryRun) for (const decision of decisions) if (decision.is === 'adopted') await adopt(decision, outbox);
  return decisions;
}

const TRAY_RUNS = 'Hivebar runs, and only while it does not its positions can be changed: quit it';

async function adopt(
  { target, identity, saved }: Extract<Decision, { is: 'adopted' }>,
  outbox: Outbox<Kept>,
): Promise<void> {
  const sink = outbox.sinkFor(target.persona, stemOf(target.persona));
  await sink.open();
  const taken = await sink.take([], { ...saved, identity }, new AbortController().signal);
  if (taken.is === 'stopped') throw taken.fault;
}

function decided(
  files: readonly OldFile[],
  settings: Partial<Settings>,
  dirs: Dirs,
  kept: ReadonlyMap<string, Kept>,
): readonly Decision[] {
  const targetOf = targetsIn(settings, join(dirs.state, 'events'));
  return decide(files, {
    targetOf,
    hereOf({ persona }, identity) {
      const here = kept.get(persona);
      // A position of another inbox is of no use to anybody: the hive of the settings is another one by now.
      if (here === undefined || !isDeepStrictEqual(here.identity, identity)) return { is: 'none' };
      return { is: 'at', cursor: here.cursor };
    },
  });
}

/** Who watches an inbox, by the hives of the settings, as the tray process names personas. */
function targetsIn({ primary, hives = [] }: Partial<Settings>, events: string) {
  const reserved = [...RESERVED_PREFIXES, ...hives.map(({ name }) => `${name}-`)];
  const all = [
    ...(primary?.is === 'kijito' ? [{ base: primary.base, members: directory('', reserved) }] : []),
    ...hives.map(({ name, base }) => ({ base, members: directory(`${name}-`, reserved) })),
  ].map(({ base, members }) => ({ hive: hiveAt(base, { is: 'source', key: base }), members }));
  return (identity: OldIdentity): Target | { readonly why: string } => {
    const address = personaIn(identity);
    if (address === null) return { why: 'is of a single address (--url), which Hivebar does not watch' };
    const ours = all.find(({ hive }) =>
      isDeepStrictEqual(identity, JSON.parse(JSON.stringify(identityOf(hive.inbox(address))))),
    );
    if (ours === undefined) return { why: unknownHive(baseOf(identity), primary !== undefined) };
    const { id } = kijitoPersona(address, ours.members);
    return { persona: id, events: eventFilePath(events, stemOf(id)) };
  };
}

/** Before the first run nobody has decided yet whose personas have the bare names. */
function unknownHive(base: string, isDecided: boolean): string {
  const first = JSON.stringify({ is: 'kijito', base });
  const step = isDecided ? `hivebar hive add ${base}` : `hivebar config set primary '${first}'`;
  return `is of ${base}, a hive that the settings do not name; run ${step}, then migrate again`;
}
