import { join } from 'node:path';
import { type DaemonConfig, type DaemonInstallation, LOCAL, loadInstalledDaemons } from '../../core/link/index.ts';
import { type PersonaId, SOURCE_PREFIXES } from '../../core/model/index.ts';
import type { Disk } from '../../core/state/index.ts';

/** What a persona of the board is called that is a daemon; see ARCHITECTURE, decision 2. */
const BOARD_PREFIX = SOURCE_PREFIXES.daemon;

/**
 * The daemons that were installed for a persona, by its id, its name in the local hive or as the board calls it. One that
 * cannot be read is nobody's here: the daemon itself, the doctor and the list say so.
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
 * Whether a persona has a daemon that listens elsewhere than to the local hive: what waits for the persona is known to it alone
 * then. Reads what is installed when it is first asked, and not again.
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
