import { formatDuration } from '../../format/index.ts';
import type { Instant } from '../../model/index.ts';
import type { Item } from '../item.ts';
import { formatShowCommand } from './commands.ts';
import { toHarmless, toHarmlessName } from './harmless-text.ts';

const MAX_SOURCE = 60;

/**
 * Formats an item between its tags: whole if that fits into `room` characters, else cut, with the command that shows all of it.
 */
export function formatPiece(item: Item, room: number, persona: string, now: Instant): string {
  return formatWholePiece(item, room, now) ?? formatCutPiece(item, room, persona, now);
}

/** Null if the whole item does not fit. */
export function formatWholePiece(item: Item, room: number, now: Instant): string | null {
  const empty = formatTags(item, '', now).length;
  const { text, sourceLength } = toHarmless(item.content, Math.max(0, room - empty));
  return sourceLength < item.content.length || empty + text.length > room ? null : formatTags(item, text, now);
}

/** Formats as much of the text as fits, in whole code points; without room only what names the item. */
export function formatCutPiece(item: Item, room: number, persona: string, now: Instant): string {
  const total = item.content.length;
  const around = formatTags(item, `\n${formatCutMarker(item, total, persona)}`, now).length;
  const { text, sourceLength } = toHarmless(item.content, Math.max(0, room - around));
  const cut = formatCutMarker(item, total - sourceLength, persona);
  return formatTags(item, text === '' ? cut : `${text}\n${cut}`, now);
}

function formatCutMarker({ id }: Item, missing: number, persona: string): string {
  return `[cut here, ${missing} more characters: ${formatShowCommand(persona, id)}]`;
}

function formatTags(
  { id, type, source, priority, created, isBroadcast, origin }: Item,
  text: string,
  now: Instant,
): string {
  const from = toHarmlessName(source, MAX_SOURCE);
  const about = `id="${id}" type="${type}" source="${from}" priority="${priority}" age="${formatDuration(now - created)}"`;
  // No sender can forge this, because names are quoted and cannot end the quotes.
  const proof = origin === null ? '' : ` origin="${origin}"`;
  return `<item ${about}${proof}${isBroadcast ? ' to="everyone"' : ''}>\n${text}\n</item>`;
}
