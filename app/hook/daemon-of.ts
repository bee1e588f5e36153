import { join } from 'node:path';
import { type DaemonConfig, type Installed, installedDaemons, LOCAL } from '../../core/link/index.ts';
import { type PersonaId, SOURCE_PREFIXES } from '../../core/model/index.ts';
import type { Disk } from '../../core/state/index.ts';

/** What a persona of the board is called that is a daemon; see ARCHITECTURE, decision 2. */
const ON_BOARD = SOURCE_PREFIXES.prism;

/**
 * The daemons that were installed for a persona, by its id, its name in the local hive or as the board calls it. One that
 * can not be read is nobody's here: the daemon itself, the doctor and the list say so.
 *
 * @param name of the persona in the local hive
 */
export function daemonsOf(disk: Disk, state: string, persona: PersonaId, name: string): readonly DaemonConfig[] {
  return ofPersona(installedIn(disk, state), persona, name);
}

/**
 * Whether a persona has a daemon that listens elsewhere than to the local hive: what waits for the persona is known to it alone
 * then. Reads what is installed when it is first asked, and not again.
 */
export function listensElsewhere(disk: Disk, state: string): (persona: PersonaId, name: string) => boolean {
  let installed: readonly Installed[] | null = null;
  return (persona, name) => {
    installed ??= installedIn(disk, state);
    return ofPersona(installed, persona, name).some(({ upstream }) => upstream !== LOCAL);
  };
}

const installedIn = (disk: Disk, state: string): readonly Installed[] => installedDaemons(disk, join(state, 'daemons'));

function ofPersona(installed: readonly Installed[], persona: PersonaId, name: string): readonly DaemonConfig[] {
  return installed.flatMap((one) => {
    if (one.is === 'bad') return [];
    const { address } = one.config;
    const isOurs = address === persona || address === name || persona === `${ON_BOARD}${one.name}`;
    return isOurs ? [one.config] : [];
  });
}
