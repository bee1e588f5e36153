import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Io } from '../../core/command/index.ts';
import { removeDecisions } from '../../core/inbox/decisions/index.ts';
import { openLocalHive, removePersona } from '../../core/inbox/index.ts';
import { realClock, realClocks, silentLog } from '../../core/ports/index.ts';
import { openOutbox, removeEvents } from '../../core/sinks/outbox/index.ts';
import { createRealDisk, ensurePrivateDir, findOwnDirs, lockFile, openStore, toStem } from '../../core/state/index.ts';
import { openPreferenceStore } from '../actions/index.ts';
import { openSettings } from '../config/tray/index.ts';
import { INSTANCE_FILE } from '../host/instance.ts';
import { openSessionStore } from '../open/index.ts';
import { openLocal } from '../sources/local-hive.ts';
import { DATABASE } from './open-local-hive.ts';
import { createStderrLog } from './process.node.ts';

const JOURNAL = 'outbox.journal';

/**
 * Removes personas of the local hive with everything that is stored of them.
 * @throws Fault `lock-held` while the tray process runs, which has them in its memory; `database`, `unwritable`
 */
export function removePersonas(io: Io, names: readonly string[]): void {
  const log = createStderrLog(io, 'hivebar persona');
  const disk = createRealDisk(log);
  const { state, run, config } = findOwnDirs({ ...io.env });
  ensurePrivateDir(disk, run);
  using _claim = lockFile(disk, join(run, INSTANCE_FILE));
  using db = openStore(join(state, DATABASE), { log });
  const directory = join(state, 'events');
  {
    // It takes what an earlier end left in the journal.
    const options = { db, disk, clock: realClock, clocks: realClocks, directory, journal: join(state, JOURNAL) };
    using outbox = openOutbox<object>({ ...options, onBehind: () => {} });
    outbox.readAllSaved();
  }
  using hive = openLocalHive({ db, clock: realClock, log: silentLog, contentChars: null });
  const local = openLocal(hive, openSettings(config).settings, realClock);
  const sessions = openSessionStore(db);
  const preferences = openPreferenceStore(db);
  for (const name of names) {
    const { id } = local.named(name);
    removeEvents(db, id);
    removeDecisions(db, name);
    sessions.forget(id);
    preferences.setMute(id, { is: 'never' });
    preferences.setHidden(id, false);
    removePersona(db, name);
    removeEventFiles(directory, toStem(id));
    for (const folder of [join(state, 'gates', toStem(name)), join(state, 'follow', toStem(id))])
      rmSync(folder, { recursive: true, force: true });
  }
}

/** The event file and its archives. */
function removeEventFiles(directory: string, stem: string): void {
  const name = `events.${stem}.ndjson`;
  for (const file of listNames(directory))
    if (file === name || (/^\.\d+$/.test(file.slice(name.length)) && file.startsWith(name)))
      rmSync(join(directory, file));
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // nothing was published yet
  }
}
