import { join } from 'node:path';
import { type DaemonConfig, type DaemonInstallation, LOCAL, loadInstalledDaemons } from '../../core/link/index.ts';
import type { PersonaId } from '../../core/model/index.ts';
import { SOURCES } from '../../core/sources/registry.ts';
import type { Disk } from '../../core/state/index.ts';

/** The prefix of personas on the board that are daemons; see ARCHITECTURE, decision 2. */
const BOARD_PREFIX = SOURCES.daemon.prefix;

/**
 * Finds the daemons that were installed for a persona, given by its id, its name in the local hive or its id on the board. A
 * daemon whose configuration cannot be read is left out here; the daemon itself, the doctor and the list report it.
 *
 * @param name of the persona in the local hive
 */
export function findPersonaDaemons(
  disk: Disk,
  state: string,
  persona: PersonaId,
  name: string,
): readonly DaemonConfig[] {
  return filterByPersona(readInstalled(disk, state), persona, name);
}

/**
 * Creates the check whether a persona has a daemon whose upstream is not the local hive. What waits for the persona there is
 * known to that daemon only. The installed configuration is read at the first call, and not again.
 */
export function createElsewhereCheck(disk: Disk, state: string): (persona: PersonaId, name: string) => boolean {
  let installed: readonly DaemonInstallation[] | null = null;
  return (persona, name) => {
    installed ??= readInstalled(disk, state);
    return filterByPersona(installed, persona, name).some(({ upstream }) => upstream !== LOCAL);
  };
}

const readInstalled = (disk: Disk, state: string): readonly DaemonInstallation[] =>
  loadInstalledDaemons(disk, join(state, 'daemons'));

function filterByPersona(
  installed: readonly DaemonInstallation[],
  persona: PersonaId,
  name: string,
): readonly DaemonConfig[] {
  return installed.flatMap((entry) => {
    if (entry.is === 'bad') return [];
    const { address } = entry.config;
    const isOurs = address === persona || address === name || persona === `${BOARD_PREFIX}${entry.name}`;
    return isOurs ? [entry.config] : [];
  });
}
