import { displayLine } from '../../core/format/index.ts';
import type { Item, Listed } from '../../core/inbox/index.ts';
import { type Instant, isoOf } from '../../core/model/index.ts';
import { realClock } from '../../core/ports/index.ts';
import { printable, printableJson } from '../printable.ts';
import type { Io } from './command.ts';
import type { InboxFlags } from './inbox-args.ts';
import { usage } from './outcome.ts';
import { withItems } from './with-items.ts';

const TEXT_CHARS = 100;

/** Which items are asked for; null: the list of messages. @throws Fault `usage` */
export function listedOf({ all, pending, delivered }: InboxFlags): Listed | null {
  const asked = [all && 'all', pending && 'pending', delivered && 'delivered'].filter((one) => typeof one === 'string');
  if (asked.length > 1) throw usage(new Error('give only one of --all, --pending and --delivered'));
  return (asked[0] as Listed | undefined) ?? null;
}

/** Items of a persona, newest first, with what became of each; marks nothing. */
export async function listItems(io: Io, persona: string, which: Listed, limit: number, json: boolean): Promise<number> {
  const found = await withItems(io, 'looks', (items) => items.list(persona, which, limit));
  const newest = found.toReversed();
  const now = realClock.now();
  if (json) io.out(`${printableJson(JSON.stringify(newest.map(wireOf)))}\n`);
  else if (newest.length === 0) io.out(`${printable(persona)} has no ${which === 'all' ? '' : `${which} `}items\n`);
  else for (const item of newest) io.out(`${lineOf(item, now)}\n`);
  return 0;
}

function lineOf(item: Item, now: Instant): string {
  const { id, type, source, content, priority, created, session, isBroadcast, origin } = item;
  const whom = `${isBroadcast ? ' to everyone' : ''}${session === null ? '' : ` for session ${printable(session)}`}`;
  const text = displayLine([...content.slice(0, TEXT_CHARS * 2)].slice(0, TEXT_CHARS).join(''));
  const at = `${isoOf(created).slice(0, 19)}Z`;
  return `${stateOf(item, now).padEnd(9)} ${String(id).padStart(6)}  ${at}  ${type} ${priority}  ${printable(source)}${origin === null ? '' : ` (${origin})`}${whom}: ${text}`;
}

function stateOf({ delivered, read, expires }: Item, now: Instant): 'delivered' | 'read' | 'expired' | 'pending' {
  if (delivered !== null) return 'delivered';
  if (read !== null) return 'read';
  return expires !== null && expires <= now ? 'expired' : 'pending';
}

/** An item as scripts get it. */
export function wireOf(item: Item) {
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
    created: isoOf(created),
    expires: isoOrNull(expires),
    dedupKey,
    origin,
    read: isoOrNull(item.read),
    delivered: isoOrNull(item.delivered),
  };
}

const isoOrNull = (at: Instant | null): string | null => (at === null ? null : isoOf(at));
