import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { toStem } from '../../../core/state/index.ts';
import type { DoctorContext } from './doctor-context.ts';
import type { EventFileProbe, EventFilesProbe } from './event-files.ts';

/** A line can be long, and the last line is the one that counts. */
const TAIL_BYTES = 256 * 1024;

export async function probeEventFiles(context: DoctorContext): Promise<EventFilesProbe> {
  const [database, tray] = [await context.database(), await context.tray()];
  const watches = database.is === 'read' ? database.watches : [];
  const files = watches.map(({ persona, newest }): EventFileProbe => {
    const path = join(context.dirs.state, 'events', `events.${toStem(persona)}.ndjson`);
    return { persona, path, newest, file: readEventFile(path) };
  });
  return { files, isRunning: tray.is === 'answered' };
}

/** Right after a rotation the newest line is in the first archive. */
function readEventFile(path: string): EventFileProbe['file'] {
  const live = readEnding(path);
  if (live.is !== 'read' || live.last !== null || live.isTorn) return live;
  const archive = readEnding(`${path}.1`);
  return archive.is === 'read' ? { ...live, last: archive.last } : live;
}

function readEnding(path: string): EventFileProbe['file'] {
  try {
    const fd = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    try {
      const { size } = fstatSync(fd);
      const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES));
      readSync(fd, bytes, 0, bytes.length, size - bytes.length);
      const lines = bytes.toString('utf8').split('\n');
      return { is: 'read', isTorn: lines.pop() !== '', last: parseEventId(lines.at(-1)) };
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return { is: 'absent' };
    return { is: 'failed', why: error instanceof Error ? error.message : String(error) };
  }
}

/** Parses the id instead of searching the text: JSON escapes a backslash or quote in a persona's name. */
function parseEventId(line: string | undefined): string | null {
  const spelled = /"event_id": ("(?:[^"\\]|\\.)*")/.exec(line ?? '')?.[1];
  if (spelled === undefined) return null;
  try {
    return JSON.parse(spelled) as string;
  } catch {
    return null; // not one of our lines
  }
}
