import type { Roll } from '../sources/index.ts';
import { readerOf } from './evidence.ts';
import { type AlarmState, seenOf } from './state.ts';

/**
 * Who is to be told of an alarm of the hive: members that somebody seems to read. If that leaves nobody, every member of
 * the directory; if there is none either, everybody who is watched: an alarm is never told to nobody (Kijito contract,
 * trap 46).
 */
export function recipients(watched: readonly string[], state: AlarmState, roll: Roll): readonly string[] {
  const read = watched.filter((address) => readerOf(address, roll, seenOf(state, address)) === 'member');
  const listedReaders = read.filter((address) => roll.of.has(address));
  if (listedReaders.length > 0) return listedReaders;
  const listed = watched.filter((address) => roll.of.has(address) && !isStranded(address, state, roll));
  if (listed.length > 0) return listed;
  return watched;
}

function isStranded(address: string, state: AlarmState, roll: Roll): boolean {
  return state.held.has(address) && readerOf(address, roll, seenOf(state, address)) === 'none';
}
