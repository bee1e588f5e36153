import { statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { silentLog } from '../../../core/ports/index.ts';
import { listConfiguredHives, parseHiveUrl, toInboxIdentity } from '../../../core/sources/index.ts';
import { createRealDisk, isLocked } from '../../../core/state/index.ts';
import {
  type Deployment,
  findPersona,
  listDeployedDirectories,
  type OldIdentity,
  readDeployment,
} from '../deployed/index.ts';
import type { DoctorContext } from './doctor-context.ts';
import { getStatePath } from './paths.node.ts';
import type { ProducersProbe, SharedFileProbe, SharedFilesProbe } from './producers.ts';

const SHARED = 'events.ndjson';

export async function probeProducers(context: DoctorContext): Promise<ProducersProbe> {
  const now = context.clock.now();
  const deployed = findDeployments(context);
  const ours = readDeployment(getStatePath(context, 'headless'));
  const tray = await context.tray();
  const saved = deployed
    .flatMap(({ states }) => states)
    .flatMap(({ path, state, savedAt }) => {
      const persona = state.is === 'position' ? findWatchedPersona(context, state.identity) : null;
      return persona === null ? [] : [{ path, persona, agoMs: now - savedAt }];
    });
  return {
    os: context.os,
    trayRuns: tray.is === 'answered',
    headless: ours === null ? null : (listHeldLocks(ours)[0] ?? null),
    directories: deployed.map(({ directory }) => directory),
    held: deployed.flatMap(listHeldLocks),
    saved,
  };
}

export async function probeSharedFiles(context: DoctorContext): Promise<SharedFilesProbe> {
  const now = context.clock.now();
  const files = findDeployments(context).flatMap((deployed): readonly SharedFileProbe[] => {
    const path = deployed.events.find((file) => basename(file) === SHARED);
    const at = path === undefined ? null : readWriteTime(path);
    if (path === undefined || at === null) return [];
    const hasOthers = deployed.events.some((file) => /^events\..+\.ndjson$/.test(basename(file)));
    return [{ path, quietMs: now - at, isRetired: hasOthers || listHeldLocks(deployed).length === 0 }];
  });
  const headless = readDeployment(getStatePath(context, 'headless'));
  const folder =
    headless !== null && listHeldLocks(headless).length > 0 ? headless.directory : getStatePath(context, 'events');
  return { files, instead: join(folder, 'events.PERSONA.ndjson') };
}

function findDeployments({ env }: DoctorContext): readonly Deployment[] {
  return listDeployedDirectories(env).flatMap((directory) => readDeployment(directory) ?? []);
}

function listHeldLocks({ locks }: Deployment): readonly string[] {
  const disk = createRealDisk(silentLog);
  return locks.filter((path) => isLocked(disk, path));
}

/** Returns the persona when the inbox belongs to a hive of the settings. */
function findWatchedPersona(context: DoctorContext, identity: OldIdentity): string | null {
  const persona = findPersona(identity);
  if (persona === null) return null;
  const isOurs = listConfiguredHives(context.settings).some(({ base }) => {
    const url = parseHiveUrl(base, { is: 'source', key: base }).inbox(persona);
    return isDeepStrictEqual(identity, JSON.parse(JSON.stringify(toInboxIdentity(url))));
  });
  return isOurs ? persona : null;
}

/** Null: the file no longer exists. */
function readWriteTime(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null;
}
