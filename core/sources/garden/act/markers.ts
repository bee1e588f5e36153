import { writeAtomically } from '../../../state/index.ts';
import { gardenFault } from '../fault.ts';
import {
  gardenIdOf,
  isPlausible,
  NATIVE_BACKENDS,
  type Places,
  PROVENANCES,
  type Processes,
  type ReceiverMarker,
  receiverFile,
  type SenderMarker,
  senderFile,
  textIn,
  utcOf,
  wordIn,
} from '../read/index.ts';
import type { Hand } from './hand.ts';
import { receiverText, senderText } from './texts.ts';

interface Arming {
  readonly gardenId: string;
  readonly backend: string;
  readonly nativeSessionId: string;
  readonly ownerPid: number;
}

/** Says that a process is woken by a citizen's mail. `ownerKind` is `claude-code-cli` unless said otherwise. */
export interface ReceiverArming extends Arming {
  readonly armProvenance: string;
  readonly ownerKind?: string | undefined;
}

export interface SenderArming extends Arming {
  readonly cwd: string;
}

/**
 * Writes the marker of a receiver in the place of the one before it.
 * @returns its path
 * @throws Fault `garden` for a backend without markers, for a process that can own no session or is not running
 */
export async function writeReceiver(
  hand: Hand,
  places: Places,
  processes: Processes,
  given: ReceiverArming,
): Promise<string> {
  const marker: ReceiverMarker = {
    ...(await owned(hand, processes, given, 'receiver')),
    ownerKind: textIn(given.ownerKind ?? 'claude-code-cli', 'ownerKind'),
    armProvenance: wordIn(given.armProvenance, PROVENANCES, 'armProvenance'),
  };
  const path = receiverFile(places.receivers, marker.gardenId);
  writeAtomically(hand.disk, hand.random, path, receiverText(marker));
  return path;
}

/** The same for a sender, whose marker is found by its process. */
export async function writeSender(
  hand: Hand,
  places: Places,
  processes: Processes,
  given: SenderArming,
): Promise<string> {
  const marker: SenderMarker = { ...(await owned(hand, processes, given, 'sender')), cwd: textIn(given.cwd, 'cwd') };
  const path = senderFile(places.senders, marker.backend, marker.ownerPid);
  writeAtomically(hand.disk, hand.random, path, senderText(marker));
  return path;
}

async function owned(
  hand: Hand,
  processes: Processes,
  given: Arming,
  kind: string,
): Promise<Omit<SenderMarker, 'cwd'>> {
  const { ownerPid } = given;
  const gardenId = gardenIdOf(given.gardenId);
  const backend = wordIn(given.backend, NATIVE_BACKENDS, 'backend');
  const nativeSessionId = textIn(given.nativeSessionId, 'nativeSessionId');
  const refusing = `refusing to write a ${kind} marker for owner pid ${ownerPid}: `;
  if (ownerPid <= 1) {
    const why = 'a pid <= 1 cannot own a native session (pid 1 is init — a reparented orphan is not an owner).';
    throw gardenFault(refusing + why, gardenId);
  }
  const state = isPlausible(ownerPid) ? (await processes([ownerPid])).get(ownerPid) : undefined;
  if (state?.is !== 'running') throw gardenFault(`${refusing}no such process is known to run`, gardenId);
  const updatedAt = utcOf(hand.clock.now());
  return { gardenId, backend, nativeSessionId, ownerPid, ownerStartKey: state.startKey, updatedAt };
}
