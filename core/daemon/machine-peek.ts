import type { Instant } from '../model/index.ts';
import { computePeekRetryMs, type DaemonInput, type Index, type OutstandingRing } from './machine-state.ts';
import { endConnection, enter, fail, LIMITS, type MachineDraft, newId, put } from './machine-stream.ts';

type PeekInput<Is extends DaemonInput['is']> = Extract<DaemonInput, { is: Is }>;

/** Starts a peek for the number of waiting items. If a peek is already under way, another one follows it. */
export function refresh(draft: MachineDraft): void {
  const { peek, link } = draft.state;
  if (link.is !== 'up') return;
  if (peek.is === 'none') ask(draft, { second: false, failures: 0 });
  if (peek.is === 'asked') put(draft, { peek: { ...peek, again: true } });
}

/** Does what is due for the peek. */
export function peekInTime(draft: MachineDraft): void {
  const { peek } = draft.state;
  const { mono } = draft.now;
  if (peek.is === 'waiting' && mono >= peek.dueMono) ask(draft, { second: false, failures: peek.failures });
  if (peek.is === 'asked' && mono >= peek.sinceMono + LIMITS.peekMs) {
    draft.effects.push({ is: 'drop_peek', peek: peek.id });
    failPeek(draft, 'no answer in time');
  }
}

export function onPeeked(draft: MachineDraft, { peek: id, rev, count, oldest }: PeekInput<'peeked'>): void {
  const { peek, link, index, fsm } = draft.state;
  if (peek.is !== 'asked' || peek.id !== id || link.is !== 'up') return;
  if (rev < peek.floor) {
    rejectOldRevision(draft, rev, peek.floor);
    return;
  }
  const newest = Math.max(link.rev, rev);
  put(draft, { link: { ...link, rev: newest }, peek: { is: 'none' } });
  if (!peek.again) learnPending(draft, { rev, count, oldest });
  else if (peek.second && isUnknown(index)) put(draft, { index: { is: 'guess', rev: newest, count, oldest: null } });
  if (fsm === 'RECONCILING' && !isUnknown(draft.state.index)) finishReconciling(draft);
  if (peek.again) ask(draft, { second: true, failures: 0 });
}

export function onPeekFailed(draft: MachineDraft, { peek: id }: PeekInput<'peek_failed'>): void {
  const { peek } = draft.state;
  if (peek.is === 'asked' && peek.id === id) failPeek(draft, 'the upstream did not report what is pending');
}

export function onPendingChanged(draft: MachineDraft, { conn, rev }: PeekInput<'pending_changed'>): void {
  const { link, index } = draft.state;
  if (link.is !== 'up' || link.conn !== conn) return;
  if (rev < link.streamRev) {
    fail(draft, 'pending_reconcile_failed', `pending_changed ${rev} after ${link.streamRev}`);
    refresh(draft);
    return;
  }
  const newest = Math.max(link.rev, rev);
  put(draft, { link: { ...link, rev: newest, streamRev: rev } });
  // A peek has already seen this change.
  if (index?.is === 'fresh' && index.rev >= rev) return;
  if (index !== null && !isUnknown(index)) {
    put(draft, { index: { ...index, is: 'guess', rev: newest, count: Math.max(1, index.count) } });
  }
  refresh(draft);
}

/**
 * Handles the only acknowledgement of a doorbell. Its revision is that of the drained items, which may be older than later
 * changes.
 */
export function onDrained(draft: MachineDraft, { conn, rev, remaining }: PeekInput<'drained'>): void {
  const { link, index, peek } = draft.state;
  if (link.is !== 'up' || link.conn !== conn) return;
  const { at, mono } = draft.now;
  const isNewest = rev >= link.rev;
  put(draft, {
    outstanding: null,
    drained: { at, mono },
    link: { ...link, rev: Math.max(link.rev, rev) },
  });
  if (!isUnknown(index)) {
    const is = isNewest ? 'fresh' : 'guess';
    put(draft, { index: { is, rev: Math.max(link.rev, rev), count: remaining, oldest: null } });
  }
  // A peek under way may have been answered before the drain.
  if (!isNewest || peek.is === 'asked') refresh(draft);
}

export function isUnknown(index: Index | null): boolean {
  return index === null || index.is === 'unknown';
}

function learnPending(draft: MachineDraft, { rev, count, oldest }: Pick<Index, 'rev' | 'count' | 'oldest'>): void {
  const { at, mono } = draft.now;
  const { outstanding } = draft.state;
  put(draft, { index: { is: 'fresh', rev, count, oldest: count === 0 ? null : oldest } });
  if (outstanding === null) return;
  // The items of the ring were drained, but the report of the drain was lost.
  if (count === 0 || isLater(oldest, outstanding)) put(draft, { outstanding: null, drained: { at, mono } });
  else if (outstanding.oldest === null) put(draft, { outstanding: { ...outstanding, oldest } });
}

/**
 * Whether the oldest waiting item came after the oldest item of the ring. Both times come from the upstream, whose clock may be
 * wrong. Only if the upstream gave no time before the ring is its time compared with our clock.
 */
function isLater(oldest: Instant | null, outstanding: OutstandingRing): boolean {
  return oldest !== null && oldest > (outstanding.oldest ?? outstanding.at);
}

function finishReconciling(draft: MachineDraft): void {
  const { link, heartbeat } = draft.state;
  if (link.is !== 'up') return;
  put(draft, {
    link: { ...link, reconciledMono: draft.now.mono },
    heartbeat: { ...heartbeat, dueMono: draft.now.mono, stuckMono: null },
  });
  enter(draft, 'CONNECTED', 'reconciled');
}

function ask(draft: MachineDraft, { second, failures }: { readonly second: boolean; readonly failures: number }): void {
  const { link } = draft.state;
  if (link.is !== 'up') return;
  const id = newId(draft);
  const { mono } = draft.now;
  put(draft, { peek: { is: 'asked', id, sinceMono: mono, floor: link.rev, again: false, second, failures } });
  draft.effects.push({ is: 'peek', peek: id });
}

function failPeek(draft: MachineDraft, why: string): number {
  const { peek } = draft.state;
  const failures = peek.is === 'asked' ? peek.failures + 1 : 1;
  put(draft, { peek: { is: 'waiting', dueMono: draft.now.mono + computePeekRetryMs(failures), failures } });
  fail(draft, 'pending_reconcile_failed', why);
  return failures;
}

/**
 * Rejects a revision that went back. If it stays back, the connection ends: an upstream that restarts its count must give a new
 * registration.
 */
function rejectOldRevision(draft: MachineDraft, rev: number, floor: number): void {
  const failures = failPeek(draft, `the revision went back from ${floor} to ${rev}`);
  if (failures >= LIMITS.timesBack) endConnection(draft, 'the revision is still lower');
}
