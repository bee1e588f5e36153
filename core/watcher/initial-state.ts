import { type Fault, type Instant, toFault } from '../model/index.ts';
import type { Clock } from '../ports/index.ts';
import type { Tail } from '../sinks/index.ts';
import type { Persona, Source } from '../sources/index.ts';
import type { SavedBaseline } from '../state/index.ts';
import type { Watcher } from './watcher.ts';
import {
  FIRST_LOG,
  type Notice,
  type SavedState,
  toCheckpoint,
  type WatcherRules,
  type WatcherStart,
  type WatcherState,
} from './watcher-state.ts';

/** Creates the state that a watcher begins with. Cursor and health are restored independently (Kijito spec 7.0). */
export function createInitialState(
  at: Instant,
  start: WatcherStart,
  saved: SavedState | null,
  tail: Tail,
  rules: WatcherRules,
): WatcherState {
  const cursor =
    start.is === 'seed' ? start.id : start.is === 'born' ? 0 : start.is === 'resume' ? saved?.cursor : null;
  const known = cursor !== null && cursor !== undefined;
  const resumed = start.is === 'resume' ? saved : null;
  const set = resumed?.known;
  const done = (resumed?.delivered_above ?? []).map(([from, to]) => ({ from, to }));
  const corrupt = resumed?.state_corrupt;
  const skipped = resumed?.baseline_skipped;
  const untold = resumed?.log?.untold;
  return {
    checkpoint:
      set !== undefined ? { is: 'known', ...set } : known ? toCheckpoint(cursor, done).checkpoint : { is: 'unset' },
    arming:
      start.is === 'born' || start.is === 'corrupt' ? start.is : known || set !== undefined ? 'rearm' : 'baseline',
    why: 'why' in start && start.why !== undefined ? start.why : 'there was no saved position',
    health: { is: 'unseen' },
    failures: saved?.consecutive_failures ?? 0,
    deliveredEdge: saved?.state ?? 'UP',
    notices: [
      ...(start.is === 'born' || resumed?.persona_added === true ? [{ is: 'persona_added' as const }] : []),
      ...(corrupt === undefined ? [] : [{ is: 'state_corrupt' as const, at: cursor ?? 0, why: corrupt }]),
      ...(skipped === undefined ? [] : [toSkippedNotice(skipped)]),
      ...(untold === undefined ? [] : [{ is: 'log_restarted' as const, cursorAt: untold[0], max: untold[1] }]),
    ],
    numbered: { next: (tail.newest ?? 0) + 1, keys: [] },
    gapAlerted: resumed?.gap_alerted ?? null,
    releaseAt: resumed?.pin_release_at ?? null,
    wasPinned: done.length > 0 || resumed?.gap_alerted !== undefined || resumed?.pin_release_at !== undefined,
    forgot: 0,
    lossDelivered: resumed?.pin_evidence_intact === false,
    hiddenDelivered: resumed?.unread_hidden === true,
    // A seed does not change which log the ids belong to. It does change what counts as old, because the operator chose
    // it.
    log: saved?.log === undefined ? FIRST_LOG : { name: saved.log.name, readTo: resumed?.log?.read_to ?? 0 },
    isAhead: rules.delivery === 'at-least-once' && (start.is === 'seed' || resumed?.seeded_ahead === true),
    // A seed replays everything, because the operator asked for it.
    held: known && start.is !== 'seed' ? findHeldIds(tail, rules, cursor, saved?.log?.name ?? '') : [],
    agent: null,
    wait: saved?.agent_wait ?? null,
    beatAt: at,
    count: 0,
    batch: null,
  };
}

function toSkippedNotice({ armed_at: at, skipped, id_range: range, unread_held, reason: why }: SavedBaseline): Notice {
  return { is: 'baseline_skipped', at, skipped, range, unread: unread_held === 'unknown' ? null : unread_held, why };
}

/** Returns the ids of this log above the cursor for which the sink already holds the `new` event. */
function findHeldIds(tail: Tail, rules: WatcherRules, cursor: number, log: string): number[] {
  const prefix = `${rules.persona ?? '_'}:new:`;
  const ids: number[] = [];
  for (const eventId of tail.eventIds) {
    if (!eventId.startsWith(prefix)) continue;
    const [digits, ...name] = eventId.slice(prefix.length).split('@');
    if (name.join('@') !== log) continue;
    const id = Number(digits);
    if (Number.isSafeInteger(id) && id > cursor) ids.push(id);
  }
  return ids.sort((a, b) => a - b);
}

export interface AdoptOptions {
  readonly everyMs: number;
  /** Opens the watcher of a persona that appeared. Null: it cannot be opened now, and the next rescan tries again. */
  open(persona: Persona): Promise<Watcher | null>;
  /** Turns an address that the pending list or a hint named into a persona. */
  toPersona(address: string): Persona;
  /** Called once per failure, until a rescan succeeds or fails in another way. */
  onRescanFailed(fault: Fault): void;
}

/** A failed rescan is tried again after this time, or after `everyMs` if that is shorter. */
const RETRY_MS = 60_000;

/** Opens watchers for personas that appear while running, each address once. It never drops one (Kijito spec 14.1). */
interface Adoption {
  /**
   * Hands the opened watcher to `enter`. Does nothing if the address is being opened or was refused since the last
   * rescan.
   */
  open(address: string, enter: (watcher: Watcher) => void): Promise<void>;
  /**
   * Calls `onAddress` with every address of the source, every `everyMs`, until `abort`. `cut` gives a signal that the
   * next interruption aborts; the rescan then asks the source at once.
   */
  rescan(onAddress: (address: string) => void, cut: () => AbortSignal, abort: AbortSignal): Promise<void>;
}

export function createAdoption(source: Source, clock: Clock, options: AdoptOptions): Adoption {
  const opening = new Set<string>();
  /**
   * Addresses that could not be opened. The pending list names them on every tick, so they wait for the next rescan.
   */
  const refused = new Set<string>();
  return {
    async open(address, enter) {
      if (opening.has(address) || refused.has(address)) return;
      opening.add(address);
      try {
        const watcher = await options.open(options.toPersona(address));
        if (watcher === null) refused.add(address);
        else enter(watcher);
      } finally {
        opening.delete(address);
      }
    },
    async rescan(onAddress, cut, abort) {
      let wait = options.everyMs;
      let lastMessage = '';
      for (;;) {
        await clock.sleep(wait, cut());
        if (abort.aborted) return;
        const asking = cut();
        try {
          const personas = await source.personas(asking);
          wait = options.everyMs;
          lastMessage = '';
          refused.clear();
          for (const persona of personas) onAddress(persona.address);
        } catch (error) {
          if (abort.aborted) return;
          wait = asking.aborted ? 0 : Math.min(options.everyMs, RETRY_MS);
          if (asking.aborted) continue; // an interruption cut the request: that is no failure
          const fault = toFault(error, { is: 'source', key: source.id });
          if (fault.message !== lastMessage) options.onRescanFailed(fault);
          lastMessage = fault.message;
        }
      }
    },
  };
}
