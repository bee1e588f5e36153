import { join, resolve } from 'node:path';
import { defineCommand, type Io, toUsageFault } from '../../core/command/index.ts';
import {
  type EventFollower,
  type FollowResult,
  type FollowStartPoint,
  follow,
  openFollower,
} from '../../core/events/index.ts';
import { displayJson, displayName } from '../../core/format/index.ts';
import { realFiles } from '../../core/ports/index.ts';
import { createRealDisk, findOwnDirs, toStem } from '../../core/state/index.ts';
import { listEventFilePersonas } from './event-file-personas.node.ts';
import { findNearest } from './nearest.ts';
import { createLineOutput } from './nonblocking-io.node.ts';
import { createStderrLog, createStopSignal, isTerminal } from './process.node.ts';
import { openCursor, type TailCursor } from './tail-cursor.ts';

/** The event at the position is no longer stored, so events after it may be missing. */
const EXIT_GAP = 3;

export const command = defineCommand(
  {
    name: 'tail',
    about: [
      'Prints the events of a persona from its event file and the archives, one JSON line per event: each once and in order,',
      'also across rotations and restarts. It reads only files, so hivebar need not run.',
    ],
    positionals: {
      persona: { value: 'PERSONA', completes: 'persona', missing: 'PERSONA is missing: use the name of a persona' },
    },
    flags: {
      follow: { type: 'boolean', short: 'f', help: 'wait for more events until stopped' },
      lines: {
        type: 'string',
        value: 'N',
        short: 'n',
        parse: parseLines,
        help: 'start with the last N events (default: 10)',
      },
      since: { type: 'string', value: 'EVENT_ID', help: 'start after that event' },
      cursor: {
        type: 'string',
        value: 'FILE',
        completes: 'file',
        help: 'keep the position in FILE and continue from there next time; the first time starts with the oldest event. The position moves on after the lines are written, so a kill repeats some and loses none',
      },
    },
    notes: [
      'Exit codes: 0 done, stopped, or the reader of stdout is gone; 1 failed, or there are no events yet; 2 wrong usage;',
      '3 the event at the position is no longer kept, so events may be missing; nothing was printed.',
    ],
    examples: [
      { run: 'hivebar tail ada', does: 'the last ten events' },
      { run: 'hivebar tail ada --follow --lines 0', does: 'new events only' },
      { run: 'hivebar tail ada --cursor ada.cursor', does: 'everything since the last time' },
      { run: 'hivebar tail ada --since ada:new:12', does: 'everything after one event' },
    ],
  },
  async ({ persona, follow: follows, ...start }, io) => {
    const { from, cursorFile } = toStart(start);
    const { state } = findOwnDirs({ ...io.env });
    const path = join(state, 'events', `events.${toStem(persona)}.ndjson`);
    const disk = createRealDisk(createStderrLog(io, 'hivebar tail'));
    const cursor = cursorFile === null ? null : openCursor(disk, resolve(cursorFile), persona);
    const position = cursor?.position ?? null;
    const opened = openFollower(realFiles, path, position === null ? from : { is: 'after', ...position });
    if (opened.is === 'unknown') {
      const id = position?.eventId ?? (from.is === 'after' ? from.eventId : '');
      io.err(`hivebar tail: ${formatUnknownEvent(id, opened.oldest, position === null ? null : cursorFile)}\n`);
      return EXIT_GAP;
    }
    using follower = opened.follower;
    if (opened.isEmpty) {
      io.err(`hivebar tail: ${formatNoEvents(persona, path, listEventFilePersonas(state))}\n`);
      if (!follows) return 1;
    }
    await printEvents(io, follower, follows ? path : null, cursor);
    return 0;
  },
);

/** Prints events to the end of the file. With a path it continues until it is stopped or nobody reads. */
async function printEvents(
  io: Io,
  follower: EventFollower,
  path: string | null,
  cursor: TailCursor | null,
): Promise<void> {
  const stop = createStopSignal();
  const output = createLineOutput();
  // A file or program gets the line byte for byte. On a terminal control characters neither act nor hide text.
  const toPrinted = isTerminal() ? displayJson : (text: string): string => text;
  let foreign = 0;
  for await (const followed of path === null ? readUntilEnd(follower, stop) : follow(follower, path, stop)) {
    if (followed.is === 'gap') {
      const after = followed.after === null ? '' : ` after ${displayName(followed.after)}`;
      io.err(`hivebar tail: events${after} may be missing: their file was rotated away before it was read\n`);
      continue;
    }
    if (followed.foreign > 0 && foreign === 0) io.err('hivebar tail: skipping lines that are not events\n');
    foreign += followed.foreign;
    const last = followed.lines.at(-1);
    if (last === undefined) continue;
    const done = await output.write(followed.lines.map(({ text }) => `${toPrinted(text)}\n`).join(''), stop);
    if (done !== 'written') return;
    cursor?.save(last);
  }
}

async function* readUntilEnd(
  follower: EventFollower,
  stop: AbortSignal,
): AsyncGenerator<Exclude<FollowResult, { is: 'end' }>, void> {
  for (let followed = follower.next(); followed.is !== 'end' && !stop.aborted; followed = follower.next())
    yield followed;
}

function formatUnknownEvent(id: string, oldest: string | null, cursorFile: string | null): string {
  const oldestText = oldest === null ? 'no event is kept' : `the oldest kept event is ${displayName(oldest)}`;
  const next =
    cursorFile === null
      ? 'leave out --since to continue with the kept events'
      : `move ${cursorFile} away to start with that`;
  return `event ${displayName(id)} is no longer kept: ${oldestText}, and the events before it are lost here: ${next}`;
}

function formatNoEvents(persona: string, path: string, knownPersonas: readonly string[]): string {
  const close = findNearest(persona, knownPersonas);
  const hint = close === null ? '' : `: did you mean ${displayName(close)}?`;
  return `${displayName(persona)} has no events yet (${path})${hint}`;
}

interface StartFlags {
  readonly lines: number | undefined;
  readonly since: string | undefined;
  readonly cursor: string | undefined;
}

/** @throws Fault `usage` */
function toStart({ lines, since, cursor }: StartFlags): {
  readonly from: FollowStartPoint;
  readonly cursorFile: string | null;
} {
  const given = Object.entries({ lines, since, cursor }).filter(([, value]) => value !== undefined);
  if (given.length > 1)
    throw toUsageFault(new Error(`use only one of ${given.map(([name]) => `--${name}`).join(' and ')}`));
  if (since === '' || cursor === '') throw toUsageFault(new Error(`--${since === '' ? 'since' : 'cursor'} is empty`));
  if (cursor !== undefined) return { from: { is: 'oldest' }, cursorFile: cursor };
  if (since !== undefined) return { from: { is: 'after', eventId: since, place: null }, cursorFile: null };
  return { from: { is: 'last', events: lines ?? 10 }, cursorFile: null };
}

function parseLines(text: string, flag: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new Error(`${flag} ${text}: must be a whole number`);
}
