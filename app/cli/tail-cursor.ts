import type { FollowedLine, Place } from '../../core/events/index.ts';
import { Fault } from '../../core/model/index.ts';
import { realRandom } from '../../core/ports/index.ts';
import { type Disk, openForRead, writeAtomically } from '../../core/state/index.ts';

/** How far a reader has come, in a file of its own. */
export interface TailCursor {
  /** Null: it has read nothing yet. */
  readonly position: { readonly eventId: string; readonly place: Place } | null;
  /** Durable when it returns. @throws Fault `unwritable` or `no-space` */
  save(line: FollowedLine): void;
}

const LONGEST = 64 * 1024;

/**
 * Opens the position that `persona`'s mail was read up to. A file that is missing or empty is a reader that begins.
 * @throws Fault `unreadable` when the file holds no position of this persona; it stays as it is
 */
export function openCursor(disk: Disk, path: string, persona: string): TailCursor {
  const text = textAt(disk, path);
  return {
    position: text.trim() === '' ? null : positionIn(path, text, persona),
    save({ event, place }) {
      const { dev, ino, offset } = place;
      const kept = { schema: 1, persona, event_id: event.event_id, file: { dev, ino, offset } };
      writeAtomically(disk, realRandom, path, `${JSON.stringify(kept)}\n`);
    },
  };
}

function textAt({ files, ...disk }: Disk, path: string): string {
  const opened = openForRead({ files, ...disk }, path);
  if (opened === null) return '';
  try {
    const bytes = new Uint8Array(Math.min(opened.stat.size, LONGEST));
    return Buffer.from(bytes.subarray(0, files.read(opened.fd, bytes, 0))).toString('utf8');
  } finally {
    files.close(opened.fd);
  }
}

function positionIn(path: string, text: string, persona: string): TailCursor['position'] {
  const kept = parsed(text);
  const unusable = (what: string): Fault =>
    new Fault('unreadable', `${path} ${what}; move it away to begin with the oldest event`, {
      is: 'machine',
      key: 'cursor',
    });
  if (kept?.schema !== 1 || typeof kept.event_id !== 'string') throw unusable('is no position of hivebar tail');
  if (kept.persona !== persona) throw unusable(`is the position of ${JSON.stringify(kept.persona)}, not of ${persona}`);
  const { dev, ino, offset } = (kept.file ?? {}) as Record<string, unknown>;
  if (typeof dev !== 'number' || typeof ino !== 'number' || typeof offset !== 'number')
    throw unusable('says not where its event is');
  return { eventId: kept.event_id, place: { dev, ino, offset } };
}

function parsed(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : null;
  } catch {
    return null; // the caller says what it is not
  }
}
