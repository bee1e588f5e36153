import type { EventLinePosition, FollowedLine } from '../../core/events/index.ts';
import { Fault } from '../../core/model/index.ts';
import { realRandom } from '../../core/ports/index.ts';
import { type Disk, readPrivate, writeAtomically } from '../../core/state/index.ts';

/** How far a reader has come, stored in its own file. */
export interface TailCursor {
  /** Null: it has read nothing yet. */
  readonly position: { readonly eventId: string; readonly place: EventLinePosition } | null;
  /** Whether a position was saved before, perhaps with nothing read. */
  readonly isStored: boolean;
  /** Saves the position durably; null is a reader that has read nothing. @throws Fault `unwritable` or `no-space` */
  save(line: FollowedLine | null): void;
}

const LONGEST = 64 * 1024;

/**
 * Opens the position up to which `persona`'s mail was read. A missing or empty file means a reader that begins.
 * @param program whose file it is, for the message to a person who gave another file
 * @throws Fault `unreadable` when the file holds no position of this persona; the file stays unchanged
 */
export function openCursor(disk: Disk, path: string, persona: string, program = 'hivebar tail'): TailCursor {
  const text = Buffer.from(readPrivate(disk, path, LONGEST) ?? []).toString('utf8');
  const isStored = text.trim() !== '';
  return {
    position: isStored ? parsePosition(path, text, persona, program) : null,
    isStored,
    save(line) {
      const { dev, ino, offset } = line?.place ?? {};
      const file = line === null ? null : { dev, ino, offset };
      const record = { schema: 1, persona, event_id: line?.event.event_id ?? null, file };
      writeAtomically(disk, realRandom, path, `${JSON.stringify(record)}\n`);
    },
  };
}

function parsePosition(path: string, text: string, persona: string, program: string): TailCursor['position'] {
  const record = parseJsonObject(text);
  const unusable = (problem: string): Fault =>
    new Fault('unreadable', `${path} ${problem}; move it away to start with the oldest event`, {
      is: 'machine',
      key: 'cursor',
    });
  const hasRead = typeof record?.event_id === 'string';
  if (record?.schema !== 1 || !(hasRead || record.event_id === null))
    throw unusable(`is not a position file of ${program}`);
  if (record.persona !== persona)
    throw unusable(`is the position of ${JSON.stringify(record.persona)}, not of ${persona}`);
  if (!hasRead) return null;
  const { dev, ino, offset } = (record.file ?? {}) as Record<string, unknown>;
  if (typeof dev !== 'number' || typeof ino !== 'number' || typeof offset !== 'number')
    throw unusable('does not say where its event is');
  return { eventId: String(record.event_id), place: { dev, ino, offset } };
}

function parseJsonObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : null;
  } catch {
    return null; // the caller reports what the file is not
  }
}
