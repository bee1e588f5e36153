import {
  type Decision,
  type DecisionGates,
  type Decisions,
  type DecisionsOptions,
  openDecisions,
  parseNewDecision,
} from '../../core/inbox/decisions/index.ts';
import { silentLog } from '../../core/ports/index.ts';
import { type Database, openDatabase } from '../../core/state/index.ts';
import { type FakeClock, fakeClock } from './fake-clock.ts';

type OwnItem = Parameters<DecisionsOptions['items']['pushOwn']>[0];

/** What a crash looks like from inside: everything that would have come after it does not. */
export class Crash extends Error {}

/** The places of an answer's way at which it can end for good. */
export const PLACES = ['gate', 'commit', 'pushing', 'pushed', 'woken', 'emitted'] as const;
export type Place = (typeof PLACES)[number];

/** Decisions on a database of their own, with everything around them written down in the order it happened. */
export interface DecisionRig extends Disposable {
  readonly db: Database;
  readonly clock: FakeClock;
  /** `gate open ada`, `push decision:1`, `wake ada`, `emit 1 resolved`. */
  readonly done: string[];
  /** What was pushed, by its key: each once. */
  readonly inbox: Map<string, OwnItem>;
  /** Whether the gate of a persona is open; not there: never touched. */
  readonly gates: Map<string, 'open' | 'closed'>;
  readonly waiting: Set<string>;
  readonly warned: string[];
  /** The next call at this place ends the process; null: none. */
  crashAt(place: Place | null): void;
  /** It ended, and nothing was started since. */
  readonly isDead: boolean;
  /** Another process on the same database. */
  start(over?: Partial<DecisionsOptions>): Decisions;
}

export function decisionRig(path = ':memory:'): DecisionRig {
  const real = openDatabase(path);
  const clock = fakeClock();
  const done: string[] = [];
  const inbox = new Map<string, OwnItem>();
  const gates = new Map<string, 'open' | 'closed'>();
  const waiting = new Set<string>();
  const warned: string[] = [];
  let next: Place | null = null;
  let isDead = false;
  const at = (place: Place): void => {
    if (isDead) throw new Crash('dead');
    if (next !== place) return;
    next = null;
    isDead = true;
    throw new Crash(place);
  };
  const db: Database = {
    ...real,
    get isTransaction() {
      return real.isTransaction;
    },
    exec(sql) {
      if (sql === 'COMMIT') at('commit');
      // What the system does for a process that is gone.
      if (isDead && sql !== 'ROLLBACK') throw new Crash('dead');
      real.exec(sql);
    },
    prepare: (sql) => {
      const statement = real.prepare<never>(sql);
      const alive =
        <A extends readonly unknown[], R>(call: (...args: A) => R) =>
        (...args: A): R => {
          if (isDead) throw new Crash('dead');
          return call(...args);
        };
      return {
        run: alive(statement.run),
        get: alive(statement.get),
        all: alive(statement.all),
        iterate: alive(statement.iterate),
      };
    },
    [Symbol.dispose]: () => real[Symbol.dispose](),
  };
  const moveGate = (persona: string, to: 'open' | 'closed'): void => {
    if (isDead) throw new Crash('dead');
    gates.set(persona, to);
    done.push(`gate ${to} ${persona}`);
    at('gate');
  };
  const gateStore: DecisionGates = {
    open: (persona) => moveGate(persona, 'open'),
    close: (persona) => moveGate(persona, 'closed'),
    waiting(persona, isWaiting) {
      if (isWaiting) waiting.add(persona);
      else waiting.delete(persona);
    },
  };
  const items: DecisionsOptions['items'] = {
    pushOwn(item) {
      at('pushing');
      const isNew = !inbox.has(item.key);
      if (isNew) inbox.set(item.key, item);
      done.push(`push ${item.key}`);
      at('pushed');
      return { id: inbox.size, dedupKey: item.key, isNew };
    },
  };
  return {
    db,
    clock,
    done,
    inbox,
    gates,
    waiting,
    warned,
    get isDead() {
      return isDead;
    },
    crashAt(place) {
      next = place;
    },
    start(over = {}) {
      isDead = false;
      return openDecisions({
        db,
        items,
        gates: gateStore,
        wake(persona) {
          if (isDead) throw new Crash('dead');
          done.push(`wake ${persona}`);
          at('woken');
        },
        emit({ id, outcome }) {
          if (isDead) throw new Crash('dead');
          done.push(`emit ${id} ${outcome.is}`);
          if (outcome.is !== 'open') at('emitted');
        },
        clock,
        log: { ...silentLog, warn: (line) => void warned.push(line) },
        ...over,
      });
    },
    [Symbol.dispose]: () => real[Symbol.dispose](),
  };
}

/** A question of ada's with the options `a` and `b`. */
export function asks(over: Partial<Parameters<typeof parseNewDecision>[0]> = {}) {
  return parseNewDecision({
    persona: 'ada',
    prompt: 'Which way?',
    options: [
      { id: 'a', label: 'the long way' },
      { id: 'b', label: 'the short way' },
    ],
    ...over,
  });
}

export const says = (over: Partial<{ select: string; text: string; acceptGuidance: boolean; by: string }> = {}) => ({
  select: null,
  text: null,
  acceptGuidance: false,
  by: 'operator',
  ...over,
});

/** `resolved a`, `resolved "text"`, `open`. */
export function formatOutcome({ outcome }: Decision): string {
  if (outcome.is !== 'resolved') return outcome.is;
  return `resolved ${outcome.choice ?? JSON.stringify(outcome.text)}`;
}
