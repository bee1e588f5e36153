import { statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { silentLog } from '../../../core/ports/index.ts';
import { hiveAt, identityOf } from '../../../core/sources/index.ts';
import { isLocked, realDisk } from '../../../core/state/index.ts';
import { type Deployed, deployedDirectories, lookInto, type OldIdentity, personaIn } from '../deployed/index.ts';
import { hivesIn } from './hive.node.ts';
import { inState } from './paths.node.ts';
import type { ProducersSeen, SharedFileSeen, SharedFilesSeen } from './producers.ts';
import type { Scene } from './scene.ts';

const SHARED = 'events.ndjson';

export async function producersSeen(scene: Scene): Promise<ProducersSeen> {
  const now = scene.clock.now();
  const deployed = there(scene);
  const ours = lookInto(inState(scene, 'headless'));
  const tray = await scene.tray();
  const saved = deployed
    .flatMap(({ states }) => states)
    .flatMap(({ path, state, savedAt }) => {
      const persona = state.is === 'position' ? watched(scene, state.identity) : null;
      return persona === null ? [] : [{ path, persona, agoMs: now - savedAt }];
    });
  return {
    os: scene.os,
    trayRuns: tray.is === 'answered',
    headless: ours === null ? null : (heldOf(ours)[0] ?? null),
    directories: deployed.map(({ directory }) => directory),
    held: deployed.flatMap(heldOf),
    saved,
  };
}

export async function sharedFilesSeen(scene: Scene): Promise<SharedFilesSeen> {
  const now = scene.clock.now();
  const files = there(scene).flatMap((deployed): readonly SharedFileSeen[] => {
    const path = deployed.events.find((one) => basename(one) === SHARED);
    const at = path === undefined ? null : writtenAt(path);
    if (path === undefined || at === null) return [];
    const hasOthers = deployed.events.some((one) => /^events\..+\.ndjson$/.test(basename(one)));
    return [{ path, quietMs: now - at, isRetired: hasOthers || heldOf(deployed).length === 0 }];
  });
  const headless = lookInto(inState(scene, 'headless'));
  const folder = headless !== null && heldOf(headless).length > 0 ? headless.directory : inState(scene, 'events');
  return { files, instead: join(folder, 'events.PERSONA.ndjson') };
}

function there({ env }: Scene): readonly Deployed[] {
  return deployedDirectories(env).flatMap((directory) => lookInto(directory) ?? []);
}

function heldOf({ locks }: Deployed): readonly string[] {
  const disk = realDisk(silentLog);
  return locks.filter((path) => isLocked(disk, path));
}

/** The persona when the inbox is one of a hive of the settings. */
function watched(scene: Scene, identity: OldIdentity): string | null {
  const persona = personaIn(identity);
  if (persona === null) return null;
  const isOurs = hivesIn(scene).some(({ base }) => {
    const url = hiveAt(base, { is: 'source', key: base }).inbox(persona);
    return isDeepStrictEqual(identity, JSON.parse(JSON.stringify(identityOf(url))));
  });
  return isOurs ? persona : null;
}

/** Null: it is gone by now. */
function writtenAt(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null;
}
