import { join } from 'node:path';
import { O } from '../../../ports/index.ts';
import { createAtomically, toIoFault } from '../../../state/index.ts';
import { createGardenFault } from '../fault.ts';
import {
  findDirectoryDefect,
  findFileDefect,
  formatUtc,
  type GardenPlaces,
  readOwners,
  readReceipt,
  readRecord,
  readStat,
  SIGNAL,
  toBoxPath,
} from '../read/index.ts';
import { stampReceipt } from './receipts.ts';
import type { WriteContext } from './write-context.ts';

export interface EnqueueResult {
  readonly gardenId: string;
  readonly stem: string;
  readonly messagePath: string;
  readonly signalPath: string;
}

const NAMINGS = 5;

/**
 * Puts a message into a citizen's box. It checks the citizen, writes the whole body under its name, then the receipt, and the
 * signal last, so that whoever the signal wakes finds the body (garden contract 4). It does not ask whether anybody drains the
 * box.
 * @throws Fault `garden` before anything is changed: no citizen, an empty body, an invalid box or receipt; `unwritable` or
 * `no-space`, after which the message may be in the box and nobody was woken
 */
export function enqueue(context: WriteContext, places: GardenPlaces, gardenId: string, body: string): EnqueueResult {
  const citizen = readRecord(context.disk, places.sessions, gardenId);
  if (body === '') throw createGardenFault('enqueueMetaMessage: body must be a non-empty string.', citizen.gardenId);
  const directory = toBoxPath(places.mailbox, citizen.gardenId);
  const signalPath = join(directory, SIGNAL);
  expectGood(context, places, directory, findDirectoryDefect);
  expectGood(context, places, signalPath, findFileDefect);
  readReceipt(context.disk, places.mailbox, citizen.gardenId);

  const time = formatUtc(context.clock.now());
  const { stem, messagePath } = putBody(context, directory, time, body);
  stampReceipt(context, places, citizen.gardenId, 'lastEnqueuedAt', time);
  ring(context, signalPath, `${time}\n`);
  return { gardenId: citizen.gardenId, stem, messagePath, signalPath };
}

function putBody(
  context: WriteContext,
  directory: string,
  time: string,
  body: string,
): { stem: string; messagePath: string } {
  for (let naming = 1; naming <= NAMINGS; naming += 1) {
    const stem = `${time.replaceAll(/[:.]/g, '-')}-${context.random.hex(3)}`;
    const messagePath = join(directory, `${stem}.msg`);
    if (createAtomically(context.disk, context.random, messagePath, body)) return { stem, messagePath };
  }
  throw createGardenFault(`no free name for a message in ${directory} in ${NAMINGS} tries`, directory);
}

/** Writes the signal in place: watchers watch this file, and would not see another one under its name. */
function ring(context: WriteContext, path: string, text: string): void {
  const { files } = context.disk;
  try {
    const fd = files.open(path, O.WRONLY | O.CREAT | O.NOFOLLOW | O.NONBLOCK, 0o600);
    try {
      if (files.fstat(fd).kind !== 'file') throw createGardenFault(`${path} is not a file`, path);
      files.ftruncate(fd, 0);
      files.write(fd, Buffer.from(text, 'utf8'));
    } finally {
      files.close(fd);
    }
  } catch (error) {
    throw toIoFault(error, path, 'unwritable');
  }
}

/** Checks that what exists has the expected kind and a trusted owner. */
function expectGood(context: WriteContext, places: GardenPlaces, path: string, wrong: typeof findFileDefect): void {
  const stat = readStat(context.disk, path);
  const why = stat === null ? null : wrong(stat, readOwners(context.disk, places.mailbox));
  if (why !== null) throw createGardenFault(`${path} ${why}; nothing was sent`, path);
}
