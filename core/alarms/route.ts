import type { PersonaDirectory } from '../sources/index.ts';
import { classifyReader } from './address-activity.ts';
import { type AlarmState, getActivity } from './alarm-state.ts';

/**
 * Finds who should get an alarm of the hive: members that somebody seems to read. If there are none, every listed
 * member that is not stranded; if there are none either, everybody who is watched. An alarm always has a recipient
 * (Kijito contract, trap 46).
 */
export function findRecipients(
  watched: readonly string[],
  state: AlarmState,
  directory: PersonaDirectory,
): readonly string[] {
  const read = watched.filter(
    (address) => classifyReader(address, directory, getActivity(state, address)) === 'member',
  );
  const listedReaders = read.filter((address) => directory.byAddress.has(address));
  if (listedReaders.length > 0) return listedReaders;
  const listed = watched.filter(
    (address) => directory.byAddress.has(address) && !isStranded(address, state, directory),
  );
  if (listed.length > 0) return listed;
  return watched;
}

function isStranded(address: string, state: AlarmState, directory: PersonaDirectory): boolean {
  return state.held.has(address) && classifyReader(address, directory, getActivity(state, address)) === 'none';
}
