import { type Io, toUsageFault } from '../../core/command/index.ts';
import { displayJson, displayLine, displayName, formatUtcTime } from '../../core/format/index.ts';
import type { Item, ItemFilter } from '../../core/inbox/index.ts';
import { formatIso, type Instant } from '../../core/model/index.ts';
import { realClock } from '../../core/ports/index.ts';
import type { InboxValues } from './inbox-schema.ts';
import { runWithItems } from './open-items.ts';

const TEXT_CHARS = 100;

/** Which items the flags ask for; null: the list of messages instead. @throws Fault `usage` */
export function parseListFilter({ all: includesAll, pending, delivered }: InboxValues<'list'>): ItemFilter | null {
  const filters = [includesAll && 'all', pending && 'pending', delivered && 'delivered'].filter(
    (value) => typeof value === 'string',
  );
  if (filters.length > 1) throw toUsageFault(new Error('give only one of --all, --pending and --delivered'));
  return (filters[0] as ItemFilter | undefined) ?? null;
}

/** Prints the items of a persona, newest first, with what became of each. It marks nothing. */
export async function listItems(
  io: Io,
  persona: string,
  which: ItemFilter,
  limit: number,
  json: boolean,
): Promise<number> {
  const matching = await runWithItems(io, 'looks', (items) => items.list(persona, which, limit));
  const newest = matching.toReversed();
  const now = realClock.now();
  if (json) io.out(`${displayJson(JSON.stringify(newest.map(toItemWire)))}\n`);
  else if (newest.length === 0) io.out(`${displayName(persona)} has no ${which === 'all' ? '' : `${which} `}items\n`);
  else for (const item of newest) io.out(`${formatItemLine(item, now)}\n`);
  return 0;
}

function formatItemLine(item: Item, now: Instant): string {
  const { id, type, source, content, priority, created, session, isBroadcast, origin } = item;
  const whom = `${isBroadcast ? ' to everyone' : ''}${session === null ? '' : ` for session ${displayName(session)}`}`;
  const text = displayLine([...content.slice(0, TEXT_CHARS * 2)].slice(0, TEXT_CHARS).join(''));
  const at = formatUtcTime(formatIso(created));
  return `${getItemState(item, now).padEnd(9)} ${String(id).padStart(6)}  ${at}  ${type} ${priority}  ${displayName(source)}${origin === null ? '' : ` (${origin})`}${whom}: ${text}`;
}

function getItemState({ delivered, read, expires }: Item, now: Instant): 'delivered' | 'read' | 'expired' | 'pending' {
  if (delivered !== null) return 'delivered';
  if (read !== null) return 'read';
  return expires !== null && expires <= now ? 'expired' : 'pending';
}

/** Converts an item to its JSON for scripts. */
export function toItemWire(item: Item) {
  const { id, persona, type, source, content, priority, session, created, expires, dedupKey, isBroadcast, origin } =
    item;
  return {
    id,
    persona,
    type,
    source,
    priority,
    content,
    session,
    broadcast: isBroadcast,
    created: formatIso(created),
    expires: toIsoOrNull(expires),
    dedupKey,
    origin,
    read: toIsoOrNull(item.read),
    delivered: toIsoOrNull(item.delivered),
  };
}

const toIsoOrNull = (at: Instant | null): string | null => (at === null ? null : formatIso(at));
