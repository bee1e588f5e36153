import { join } from 'node:path';
import { O } from '../../../ports/index.ts';
import { createAtomically, ioFault } from '../../../state/index.ts';
import { gardenFault } from '../fault.ts';
import {
  boxDirectory,
  closedBy,
  ownersOf,
  type Places,
  readReceipt,
  readRecord,
  SIGNAL,
  statOf,
  utcOf,
  wrongWith,
} from '../read/index.ts';
import type { Hand } from './hand.ts';
import { stamp } from './receipts.ts';

export interface Queued {
  readonly gardenId: string;
  readonly stem: string;
  readonly messagePath: string;
  readonly signalPath: string;
}

const NAMINGS = 5;

/**
 * Puts a message into a citizen's box: the citizen is there, the body whole under its name, the receipt, and last the
 * signal, so that whoever is woken by it finds the body (garden contract 4). Whether anybody drains the box is not asked.
 * @throws Fault `garden` before anything is changed: no citizen, an empty body, a box or a receipt that is none;
 *   `unwritable` or `no-space`, after which the message may be in the box and nobody was woken
 */
export function enqueue(hand: Hand, places: Places, gardenId: string, body: string): Queued {
  const citizen = readRecord(hand.disk, places.sessions, gardenId);
  if (body === '') throw gardenFault('enqueueMetaMessage: body must be a non-empty string.', citizen.gardenId);
  const directory = boxDirectory(places.mailbox, citizen.gardenId);
  const signalPath = join(directory, SIGNAL);
  expectGood(hand, places, directory, closedBy);
  expectGood(hand, places, signalPath, wrongWith);
  readReceipt(hand.disk, places.mailbox, citizen.gardenId);

  const time = utcOf(hand.clock.now());
  const { stem, messagePath } = putBody(hand, directory, time, body);
  stamp(hand, places, citizen.gardenId, 'lastEnqueuedAt', time);
  ring(hand, signalPath, `${time}\n`);
  return { gardenId: citizen.gardenId, stem, messagePath, signalPath };
}

function putBody(hand: Hand, directory: string, time: string, body: string): { stem: string; messagePath: string } {
  for (let naming = 1; naming <= NAMINGS; naming += 1) {
    const stem = `${time.replaceAll(/[:.]/g, '-')}-${hand.random.hex(3)}`;
    const messagePath = join(directory, `${stem}.msg`);
    if (createAtomically(hand.disk, hand.random, messagePath, body)) return { stem, messagePath };
  }
  throw gardenFault(`no free name for a message in ${directory} in ${NAMINGS} tries`, directory);
}

/** The signal is written in place: who watches it watches this file, and would not see another under its name. */
function ring(hand: Hand, path: string, text: string): void {
  const { files } = hand.disk;
  try {
    const fd = files.open(path, O.WRONLY | O.CREAT | O.NOFOLLOW | O.NONBLOCK, 0o600);
    try {
      if (files.fstat(fd).kind !== 'file') throw gardenFault(`${path} is not a file`, path);
      files.ftruncate(fd, 0);
      files.write(fd, Buffer.from(text, 'utf8'));
    } finally {
      files.close(fd);
    }
  } catch (error) {
    throw ioFault(error, path, 'unwritable');
  }
}

/** What is there already must be of the kind it should be, and of somebody who is believed. */
function expectGood(hand: Hand, places: Places, path: string, wrong: typeof wrongWith): void {
  const there = statOf(hand.disk, path);
  const why = there === null ? null : wrong(there, ownersOf(hand.disk, places.mailbox));
  if (why !== null) throw gardenFault(`${path} ${why}; nothing was sent`, path);
}
