import type { Item, ItemFilter, LeaseRequest, NewItem, PushResult } from '../../core/inbox/index.ts';
import { isSameName } from '../../core/model/index.ts';

/** What one persona did with an item. */
interface Marks {
  read: number | null;
  delivered: number | null;
  lease: string | null;
  until: number;
}

interface ReferenceRow extends NewItem {
  readonly id: number;
  /** Null: a key of its own, which nobody else can have. */
  readonly dedupKey: string | null;
  readonly marks: Map<string, Marks>;
  /** Its key is another item's by now. */
  isFree: boolean;
}

/** An item without the key, which the reference does not make up. */
export type PlainItem = Omit<Item, 'dedupKey'>;

const DAY = 86_400_000;

/** The inbox by the plainest means: a list, and loops over it. Times are given; ids of new items are, too. */
export class InboxReference {
  readonly personas = new Map<string, { last: number }>();
  #rows: ReferenceRow[] = [];
  #leases = 0;

  /** What a push is to answer but for the ids of new items, which `toId` says. */
  push(
    items: readonly NewItem[],
    now: number,
    toId: (index: number) => number,
  ): readonly Omit<PushResult, 'dedupKey'>[] {
    return items.map((item, index) => {
      const known = this.#rows
        .filter((row) => row.dedupKey !== null && row.dedupKey === item.dedupKey && !row.isFree)
        .filter(({ to }) => to.is === 'everyone' || (item.to.is === 'persona' && to.name === item.to.name))
        .find((row) => {
          const isOver = this.#isOver(row, now);
          if (isOver && row.to.is === item.to.is) row.isFree = true;
          return !isOver;
        });
      if (known !== undefined) return { id: known.id, isNew: false };
      const id = toId(index);
      const row: ReferenceRow = { ...item, id, marks: new Map(), isFree: false };
      const { to } = item;
      if (to.is === 'persona') {
        const persona = this.#appear(to.name, now);
        persona.last = id;
        row.marks.set(to.name, fresh(isSameName(item.source, to.name) ? now : null));
      } else {
        for (const [name, persona] of this.personas) {
          persona.last = id;
          row.marks.set(name, fresh(isSameName(item.source, name) ? now : null));
        }
      }
      this.#rows.push(row);
      return { id, isNew: true };
    });
  }

  list(persona: string, now: number, which: ItemFilter): readonly PlainItem[] {
    return this.#seenBy(persona, now)
      .filter(([row, marks]) => {
        if (which === 'pending') return isPending(row, marks, now);
        return which === 'all' || marks.delivered !== null;
      })
      .map(([row, marks]) => plain(row, marks, persona));
  }

  pending(persona: string, session: string | null, now: number): readonly number[] {
    const counts = [0, 0, 0, 0, 0];
    for (const item of this.list(persona, now, 'pending')) {
      if (isFor(item.session, session)) counts[item.priority] = (counts[item.priority] ?? 0) + 1;
    }
    return counts;
  }

  /** Its own name of the lease, to settle it by. */
  lease(
    request: LeaseRequest,
    now: number,
  ): { readonly name: string; readonly items: readonly PlainItem[]; readonly left: number } {
    const { persona, session, upTo, most, forMs } = request;
    this.sweep(now);
    const live = this.#rows.some((row) => row.to.is === 'everyone' && !isExpired(row, now));
    if (live) this.#appear(persona, now);
    const all = this.#seenBy(persona, now)
      .filter(([row, marks]) => isPending(row, marks, now) && isFor(row.session, session))
      .sort(([a], [b]) => a.priority - b.priority || a.created - b.created || a.id - b.id);
    const accepted = all.filter(([row], at) => row.priority === 0 || (row.priority <= upTo && at < most));
    this.#leases += 1;
    const name = `lease ${this.#leases}`;
    for (const [, marks] of accepted) Object.assign(marks, { lease: name, until: now + forMs });
    return {
      name,
      items: accepted.map(([row, marks]) => plain(row, marks, persona)),
      left: all.length - accepted.length,
    };
  }

  acknowledge(persona: string, name: string, ids: readonly number[], shown: readonly number[], now: number): void {
    for (const row of this.#rows) {
      const marks = row.marks.get(persona);
      if (marks === undefined || !ids.includes(row.id)) continue;
      if (shown.includes(row.id)) {
        if (marks.delivered !== null) continue;
        Object.assign(marks, { read: marks.read ?? now, delivered: now, lease: null, until: 0 });
      } else if (marks.lease === name) Object.assign(marks, { lease: null, until: 0 });
    }
  }

  markRead(persona: string, ids: readonly number[] | 'all', now: number): void {
    for (const row of this.#rows) {
      const marks = row.marks.get(persona);
      if (marks !== undefined && (ids === 'all' || ids.includes(row.id))) marks.read ??= now;
    }
  }

  sweep(now: number): void {
    for (const row of this.#rows) {
      for (const [persona, marks] of row.marks) {
        if (isExpired(row, now) && marks.read === null && marks.until <= now) row.marks.delete(persona);
      }
    }
    this.#rows = this.#rows.filter((row) => row.to.is === 'everyone' || row.marks.size > 0);
  }

  reap(now: number, olderThan: number): void {
    for (const row of this.#rows) {
      for (const [persona, { delivered, until }] of row.marks) {
        if (row.expires === null) continue;
        if (delivered === null ? isExpired(row, now) && until <= now : delivered <= now - DAY)
          row.marks.delete(persona);
      }
    }
    this.#rows = this.#rows.filter(
      (row) => row.created >= olderThan && (row.marks.size > 0 || (row.to.is === 'everyone' && !isExpired(row, now))),
    );
  }

  /** Unread, and of these urgent, of everybody who has any. */
  levels(): ReadonlyMap<string, { readonly unread: number; readonly urgent: number }> {
    const levels = new Map<string, { unread: number; urgent: number }>();
    for (const row of this.#rows) {
      for (const [persona, marks] of row.marks) {
        if (marks.read !== null) continue;
        const level = levels.get(persona) ?? { unread: 0, urgent: 0 };
        levels.set(persona, { unread: level.unread + 1, urgent: level.urgent + (row.priority <= 1 ? 1 : 0) });
      }
    }
    return levels;
  }

  /** It keeps no other item with its key away: it expired, and nobody was shown it (a broadcast: it expired). */
  #isOver(row: ReferenceRow, now: number): boolean {
    if (!isExpired(row, now)) return false;
    const { to } = row;
    if (to.is === 'everyone') return true;
    const marks = row.marks.get(to.name);
    return marks === undefined || (marks.read === null && marks.delivered === null && marks.until <= now);
  }

  #appear(name: string, now: number): { last: number } {
    const known = this.personas.get(name);
    if (known !== undefined) return known;
    const persona = { last: 0 };
    this.personas.set(name, persona);
    for (const row of this.#rows) {
      if (row.to.is !== 'everyone' || isExpired(row, now)) continue;
      row.marks.set(name, fresh(isSameName(row.source, name) ? now : null));
      persona.last = Math.max(persona.last, row.id);
    }
    return persona;
  }

  /** In order of id. Who is not known yet has every broadcast that has not expired. */
  #seenBy(persona: string, now: number): readonly (readonly [ReferenceRow, Marks])[] {
    const isKnown = this.personas.has(persona);
    return this.#rows.flatMap((row) => {
      const marks = row.marks.get(persona);
      if (marks !== undefined) return [[row, marks] as const];
      return !isKnown && row.to.is === 'everyone' && !isExpired(row, now) ? [[row, fresh(null)] as const] : [];
    });
  }
}

function fresh(read: number | null): Marks {
  return { read, delivered: null, lease: null, until: 0 };
}

function isExpired(row: ReferenceRow, now: number): boolean {
  return row.expires !== null && row.expires <= now;
}

function isPending(row: ReferenceRow, marks: Marks, now: number): boolean {
  return marks.read === null && marks.until <= now && !isExpired(row, now);
}

function isFor(session: string | null, asking: string | null): boolean {
  return session === null || session === asking;
}

function plain(row: ReferenceRow, { read, delivered }: Marks, persona: string): PlainItem {
  const { id, type, source, content, priority, session, created, expires } = row;
  const isBroadcast = row.to.is === 'everyone';
  const origin = null;
  return {
    id,
    persona,
    type,
    source,
    content,
    priority,
    session,
    created,
    expires,
    isBroadcast,
    origin,
    read,
    delivered,
  };
}
