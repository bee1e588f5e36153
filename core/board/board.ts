import { addCounts, type Instant, type PersonaId, toHealthLabel } from '../model/index.ts';
import { type Log, silentLog } from '../ports/index.ts';
import type { Fact } from './fact.ts';
import { type BoardState, EMPTY_BOARD, fold, type PersonaCell, type SourceCell, type Trouble } from './fold.ts';
import { type CauseView, type HiveView, isSameValue, type PersonaView, type Snapshot, type Until } from './snapshot.ts';

/** The in-memory model behind every surface. */
export interface Board {
  /** Adds the fact to the board, then calls every listener in order of subscription. */
  put(fact: Fact): void;
  snapshot(): Snapshot;
  /** Calls `listener` with every fact, after it is in the snapshot. A listener that throws is logged and stays subscribed. */
  facts(listener: (fact: Fact, board: Board) => void): Disposable;
  /** Calls `listener` once for all facts of a turn, if they changed `rev`. */
  changes(listener: (snapshot: Snapshot) => void): Disposable;
}

/**
 * Creates the board of one process. `put` calls the fact listeners at once and in order. Facts are folded in together,
 * when somebody asks for a snapshot or at the end of the turn. A fact that a listener puts waits for its turn, so every
 * listener gets all facts in the same order. `changes` listeners are called once for all facts of a turn, and only when
 * the board changed. Two calls of `snapshot` without a fact between them return the same object.
 *
 * `later` schedules the end of the turn. The default is a microtask, which is too soon where 1,000 polls return one by
 * one.
 */
export function createBoard(log: Log = silentLog, later: (run: () => void) => void = queueMicrotask): Board {
  let state: BoardState = EMPTY_BOARD;
  /** Facts that were put but are not yet in `state`. */
  let news: Fact[] = [];
  let rev = 0;
  let snapshot: Snapshot | null = null;
  /** The last snapshot, from which the next one takes whoever did not change. */
  let shown: ShownBoard | null = null;
  /** The state that `rev` counts. `announced` is the `rev` that the `changes` listeners got last. */
  let counted = EMPTY_BOARD;
  let announced = 0;
  let due = false;
  const waiting: Fact[] = [];
  let telling = false;
  const onFact = createListeners<(fact: Fact, board: Board) => void>(log);
  const onChange = createListeners<(snapshot: Snapshot) => void>(log);

  const foldPending = (): void => {
    if (news.length > 0) state = fold(state, news);
    news = [];
    if (!isSameBoard(counted, state)) rev += 1;
    counted = state;
  };
  const finishTurn = (): void => {
    due = false;
    foldPending();
    if (rev === announced) return; // a quiet tick ends here, without a new snapshot
    announced = rev;
    if (onChange.isEmpty()) return;
    const current = board.snapshot();
    onChange.tell((listener) => listener(current));
  };

  const board: Board = {
    put: (fact) => {
      if (telling) return void waiting.push(fact);
      telling = true;
      try {
        for (let next: Fact | undefined = fact; next !== undefined; next = waiting.shift()) {
          const current = next;
          news.push(current);
          snapshot = null;
          onFact.tell((listener) => listener(current, board));
        }
      } finally {
        telling = false;
      }
      if (due) return;
      due = true;
      later(finishTurn);
    },
    snapshot: () => {
      if (snapshot !== null) return snapshot;
      foldPending();
      snapshot = toSnapshot(state, state.now, rev, shown);
      shown = { cells: state.personas, snapshot };
      return snapshot;
    },
    facts: onFact.add,
    changes: onChange.add,
  };
  return board;
}

/** Functions that are called one after the other. One that throws is logged and does not take the others down. */
interface Listeners<Listener> {
  /** The same function may listen twice. */
  add(listener: Listener): Disposable;
  /** Calls `run` with each listener that is there now and is not disposed by an earlier one. */
  tell(run: (listener: Listener) => void): void;
  isEmpty(): boolean;
}

function createListeners<Listener>(log: Log): Listeners<Listener> {
  // Copied when a listener comes or goes, and not for each fact.
  let entries: readonly { readonly listener: Listener; isDisposed: boolean }[] = [];
  return {
    add(listener) {
      const entry = { listener, isDisposed: false };
      entries = [...entries, entry];
      return {
        [Symbol.dispose]() {
          entry.isDisposed = true;
          entries = entries.filter((other) => other !== entry);
        },
      };
    },
    tell(run) {
      for (const { listener, isDisposed } of entries) {
        if (isDisposed) continue;
        try {
          run(listener);
        } catch (error) {
          log.error('a listener of the board failed', { error });
        }
      }
    },
    isEmpty: () => entries.length === 0,
  };
}

/** A snapshot and the cells that it was made from, in the same order. */
interface ShownBoard {
  readonly cells: readonly PersonaCell[];
  readonly snapshot: Snapshot;
}

/**
 * Converts the board to a snapshot. Pure; a mute that has run out by `now` is shown as none. A persona that looks as in `before` is
 * the same object, mostly at the same place of the list.
 */
export function toSnapshot(state: BoardState, now: Instant, rev: number, before: ShownBoard | null = null): Snapshot {
  const personas = state.personas.map((cell, i) => {
    const known = before?.cells[i] === cell ? before.snapshot.personas[i] : undefined;
    return known?.muted === endSilence(cell.view.muted, now) ? known : toPersonaView(cell, now);
  });
  const shownPersonas = personas.filter((persona) => !persona.hidden);
  const counted = state.personas.flatMap(({ view, isEcho }) => (view.hidden || isEcho ? [] : [view]));
  let up = 0;
  let down = 0;
  for (const persona of shownPersonas) {
    const label = toHealthLabel(persona.health);
    if (label === 'UP') up += 1;
    else if (label === 'DOWN') down += 1;
  }
  return {
    rev,
    personas,
    causes: findCauses(state),
    hives: toHiveViews(state),
    projects: state.projects,
    decisions: listShown(state.decisions, state),
    permissions: listShown(state.permissions, state),
    totals: {
      unread: addCounts(counted.map((persona) => persona.unread)),
      urgent: addCounts(counted.map((persona) => persona.urgent)),
      up,
      down,
      personas: shownPersonas.length,
    },
    paused: endSilence(state.paused, now),
    quietHours: state.quietHours,
    quietTimes: state.quietTimes,
    quiet: endSilence(state.quiet, now),
    autostart: state.autostart,
    tray: state.tray,
    notifications: state.notifications,
  };
}

/** Leaves out what hidden personas ask. */
function listShown<T extends { readonly persona: PersonaId }>(
  asked: readonly T[],
  { hidden }: BoardState,
): readonly T[] {
  return asked.filter(({ persona }) => !hidden.has(persona));
}

const NEVER: Until = { is: 'never' };

function endSilence(until: Until, now: Instant): Until {
  return until.is === 'at' && until.at <= now ? NEVER : until;
}

function toPersonaView({ view, asOf, staleAfter }: PersonaCell, now: Instant): PersonaView {
  return { ...view, asOf, staleAfter, muted: endSilence(view.muted, now) };
}

/** Keys of a board that nobody sees: its clock, and what is kept of personas that have not joined. */
const UNSEEN: ReadonlySet<string> = new Set(['now', 'muted', 'hidden', 'agentReports'] satisfies (keyof BoardState)[]);

/**
 * Returns whether two states look the same to a person, so that a quiet tick repaints no surface. What looks the same
 * is mostly the same object, so the comparison costs a few pointers per persona.
 */
function isSameBoard(a: BoardState, b: BoardState): boolean {
  if (a.personas.length !== b.personas.length || !a.personas.every((cell, i) => isSameCell(cell, b.personas[i]))) {
    return false;
  }
  for (const key in a) {
    const name = key as keyof BoardState;
    if (name !== 'personas' && !UNSEEN.has(name) && !isSameValue(a[name], b[name])) return false;
  }
  const isUnchanged = (name: 'decisions' | 'permissions'): boolean => {
    const list = (state: BoardState): unknown => listShown<{ readonly persona: PersonaId }>(state[name], state);
    return a.hidden === b.hidden || isSameValue(list(a), list(b));
  };
  return isUnchanged('decisions') && isUnchanged('permissions') && !hasMuteEnded(a, b);
}

function isSameCell(a: PersonaCell, b: PersonaCell | undefined): boolean {
  if (a === b || b === undefined) return a === b;
  return (
    (a.view === b.view || isSameValue(a.view, b.view)) &&
    a.isEcho === b.isEcho &&
    isSameValue(a.failed, b.failed) &&
    isSameValue(a.held, b.held) &&
    isSameValue(a.behind, b.behind)
  );
}

/** Time alone ends a mute, so the snapshot changes although no cell did. */
function hasMuteEnded(a: BoardState, b: BoardState): boolean {
  const hasEnded = (until: Until): boolean => until.is === 'at' && until.at > a.now && until.at <= b.now;
  return hasEnded(b.paused) || hasEnded(b.quiet) || b.muted.values().some(hasEnded);
}

/**
 * Groups everything that fails under one key into one cause: personas that are down, events that wait, and a source
 * that cannot list its personas. The oldest fault names the cause, and a fault of the source comes before one of a
 * persona. The oldest cause comes first.
 */
function findCauses(state: BoardState): CauseView[] {
  const causes = new Map<string, { view: Omit<CauseView, 'personas'>; personas: string[] }>();
  const add = (trouble: Trouble, persona: string | null): void => {
    const { key, is: scope } = trouble.fault.scope;
    const known = causes.get(key);
    if (known === undefined) {
      const message = trouble.fault.explain();
      causes.set(key, {
        view: { key, scope, since: trouble.since, message },
        personas: persona === null ? [] : [persona],
      });
      return;
    }
    if (trouble.since < known.view.since) {
      const message = persona === null ? trouble.fault.explain() : known.view.message;
      known.view = { ...known.view, since: trouble.since, message };
    }
    if (persona !== null && known.personas.at(-1) !== persona) known.personas.push(persona);
  };
  for (const trouble of state.machine.values()) add(trouble, null);
  for (const source of state.sources) if (source.trouble !== null) add(source.trouble, null);
  for (const cell of state.personas) {
    if (cell.view.hidden) continue;
    if (cell.failed !== null && cell.view.health.is === 'down') add(cell.failed, cell.view.id);
    if (cell.held !== null) add(cell.held, cell.view.id);
    if (cell.behind !== null) add(cell.behind, cell.view.id);
  }
  return [...causes.values()]
    .map(({ view: cause, personas }) => ({ ...cause, personas }))
    .sort((a, b) => a.since - b.since || (a.key < b.key ? -1 : 1));
}

function toHiveViews(state: BoardState): HiveView[] {
  const sums = new Map<string, { up: boolean; down: PersonaCell | null }>();
  for (const cell of state.personas) {
    const sum = sums.get(cell.view.source) ?? { up: false, down: null };
    if (cell.view.health.is === 'up') sum.up = true;
    else if (cell.view.health.is === 'down') sum.down ??= cell;
    sums.set(cell.view.source, sum);
  }
  return state.sources.map((source) => toHiveView(source, sums.get(source.id) ?? { up: false, down: null }));
}

/** A hive is as healthy as its best inbox: one healthy poll proves that the server answers, even if the directory fails. */
function toHiveView(source: SourceCell, sum: { up: boolean; down: PersonaCell | null }): HiveView {
  const base = { source: source.id, address: source.address };
  const reason = source.trouble?.fault.explain() ?? null;
  if (sum.up) return { ...base, state: 'UP', reason };
  if (reason !== null) return { ...base, state: 'DOWN', reason };
  if (sum.down !== null) return { ...base, state: 'DOWN', reason: sum.down.view.reason };
  return { ...base, state: source.answered ? 'UP' : 'PENDING', reason: null };
}
