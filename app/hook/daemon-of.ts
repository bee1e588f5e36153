import { join } from 'node:path';
import { type DaemonConfig, installedDaemons, LOCAL } from '../../core/link/index.ts';
import type { PersonaId } from '../../core/model/index.ts';
import type { Disk } from '../../core/state/index.ts';

/** What a persona of the board is called that is a daemon; see ARCHITECTURE, decision 2. */
const ON_BOARD = 'prism-';

/**
 * The daemons that were installed for a persona, by its id, its name in the local hive or as the board calls it. One that
 * can not be read is nobody's here: the daemon itself, the doctor and the list say so.
 *
 * @param name of the persona in the local hive
 */
export function daemonsOf(disk: Disk, state: string, persona: PersonaId, name: string): readonly DaemonConfig[] {
  return installedDaemons(disk, join(state, 'daemons')).flatMap((one) => {
    if (one.is === 'bad') return [];
    const { address } = one.config;
    const isOurs = address === persona || address === name || persona === `${ON_BOARD}${one.name}`;
    return isOurs ? [one.config] : [];
  });
}

/** Whether one of them listens elsewhere than to the local hive: what waits for the persona is known to it alone then. */
export function listensElsewhere(disk: Disk, state: string): (persona: PersonaId, name: string) => boolean {
  return (persona, name) => daemonsOf(disk, state, persona, name).some(({ upstream }) => upstream !== LOCAL);
}
