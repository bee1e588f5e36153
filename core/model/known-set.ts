/**
 * The events that report something new for a persona: a message, work of a project (brainclaw contract 9), or a question that a
 * person must answer. All are mail.
 */
export type MailName = 'new' | 'handoff' | 'assigned' | 'action' | 'question';

/** The events that report a change. None of them wakes an agent. */
export type ChangeName = 'delivered' | 'read' | 'gone' | 'cleared' | 'acked';

/** Further keys of event lines that only one source knows. */
export type Extra = Readonly<Record<string, string | number | boolean | null>>;

/** One known item of a set. It is plain data, since a key may be any text. */
export interface KnownItem {
  readonly key: string;
  /** The `id` of its events; null: the item never makes events. */
  readonly seq: number | null;
  /** The fingerprint of the item when it was last delivered. */
  readonly fingerprint: string;
  /** How many of its changes were delivered. */
  readonly changes: number;
  /** The event to deliver when the item vanishes, and its further keys, both as of `fingerprint`. */
  readonly vanished: ChangeName | null;
  readonly extra: Extra;
  /** It is a question that a person has not answered yet. Absent: it is none. */
  readonly asks?: true;
}

/** The known items of a set, as last delivered. */
export interface KnownSet {
  /** Names the set. A different epoch is a different set. */
  readonly epoch: string;
  /** The `seq` of the next new item, from 1 on. It never goes back. */
  readonly next: number;
  /** The items; each key occurs once. */
  readonly keys: readonly KnownItem[];
  /**
   * Delivered items that vanished. They keep their `seq` in case they come back. The last one that vanished stands
   * last, and no key is also in `keys`. Absent for none.
   */
  readonly gone?: readonly KnownItem[];
}

/** The whole numbers from `from` to `to`, both included. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Returns the same numbers as few spans as possible, ascending, none touching the next. */
export function mergeSpans(spans: readonly Span[]): readonly Span[] {
  const result: { from: number; to: number }[] = [];
  for (const { from, to } of spans.toSorted((a, b) => a.from - b.from)) {
    const last = result.at(-1);
    if (last !== undefined && from <= last.to + 1) last.to = Math.max(last.to, to);
    else result.push({ from, to });
  }
  return result;
}

/** Finds the span that holds a number. `spans` must be in the form that `mergeSpans` returns. */
export function findSpan(spans: readonly Span[], n: number): Span | null {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const span = spans[middle];
    if (span !== undefined && span.to < n) low = middle + 1;
    else high = middle;
  }
  const span = spans[low];
  return span !== undefined && span.from <= n ? span : null;
}
