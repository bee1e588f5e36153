import { formatDuration } from '../../format/index.ts';
import type { Instant } from '../../model/index.ts';
import type { Item } from '../item.ts';
import { showCommand } from './commands.ts';
import { harmless, harmlessName } from './harmless.ts';

const MAX_SOURCE = 60;

/** One item between its tags: whole when that fits into `room` characters, else cut, with where to have all of it. */
export function pieceOf(item: Item, room: number, persona: string, now: Instant): string {
  return wholePiece(item, room, now) ?? cutPiece(item, room, persona, now);
}

/** Null when there is no room for that. */
export function wholePiece(item: Item, room: number, now: Instant): string | null {
  const empty = between(item, '', now).length;
  const { text, taken } = harmless(item.content, Math.max(0, room - empty));
  return taken < item.content.length || empty + text.length > room ? null : between(item, text, now);
}

/** As much of the text as fits, in whole code points; with no room at all only what names the item. */
export function cutPiece(item: Item, room: number, persona: string, now: Instant): string {
  const total = item.content.length;
  const around = between(item, `\n${marker(item, total, persona)}`, now).length;
  const { text, taken } = harmless(item.content, Math.max(0, room - around));
  const cut = marker(item, total - taken, persona);
  return between(item, text === '' ? cut : `${text}\n${cut}`, now);
}

function marker({ id }: Item, missing: number, persona: string): string {
  return `[cut here, ${missing} more characters: ${showCommand(persona, id)}]`;
}

function between(
  { id, type, source, priority, created, isBroadcast, origin }: Item,
  text: string,
  now: Instant,
): string {
  const from = harmlessName(source, MAX_SOURCE);
  const about = `id="${id}" type="${type}" source="${from}" priority="${priority}" age="${formatDuration(now - created)}"`;
  // No sender can have this: names stand between quotes that nothing in them ends.
  const proof = origin === null ? '' : ` origin="${origin}"`;
  return `<item ${about}${proof}${isBroadcast ? ' to="everyone"' : ''}>\n${text}\n</item>`;
}
