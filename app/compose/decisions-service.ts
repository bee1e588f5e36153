import type { Board, OpenGate } from '../../core/board/index.ts';
import { askedIn, type Decisions, openDecisions } from '../../core/inbox/decisions/index.ts';
import { gateOwners, gatesForDecisions, openGates, realGit } from '../../core/inbox/gates/index.ts';
import type { LocalHive } from '../../core/inbox/index.ts';
import { Fault, type PersonaId } from '../../core/model/index.ts';
import { type Database, stemOf } from '../../core/state/index.ts';
import type { Machine } from './machine.ts';
import { tellLocal } from './tell-local.ts';

/** What another process left undone is found within this time. */
const LOOK_EVERY_MS = 30_000;
const GIT_MS = 1000;

export interface KeptDecisions extends Disposable {
  readonly decisions: Decisions;
  /** Looks now: another process may have asked, with a time that is over sooner. */
  look(): void;
}

export interface KeepDecisionsOptions {
  readonly db: Database;
  readonly local: LocalHive;
  readonly state: string;
  /** The id on the board of a persona of the local hive. */
  readonly idOf: (name: string) => PersonaId;
  readonly board: Board;
}

/**
 * The decisions in the tray process: closed when their time is over, told where a crash came between, and put on the board
 * with what else only the local hive knows.
 */
export function keepDecisions(options: KeepDecisionsOptions, machine: Machine): KeptDecisions {
  const { db, local, state, idOf, board } = options;
  const { disk, random, clock, log } = machine;
  const gates = openGates({ disk, random, clock, state, items: null, git: realGit(GIT_MS), asked: askedIn(db, clock) });
  let changed = (): void => {};
  const decisions = openDecisions({
    db,
    items: local.items,
    gates: gatesForDecisions(gates),
    wake: () => {}, // the push itself is seen by the watch of this inbox
    emit({ id, persona, outcome }) {
      log.info(`decision ${id} of ${persona} is ${outcome.is}`);
      changed();
    },
    clock,
    log,
  });
  const teller = tellLocal({ db, local, decisions, gates: openGatesNow, idOf, board }, machine);
  changed = teller.look;
  let next: Disposable | null = null;

  function openGatesNow(asking: readonly string[]): ReadonlyMap<string, readonly OpenGate[]> {
    const stems = gateOwners(disk, state);
    const withGates = local.personas().flatMap(({ name }) => (stems.has(stemOf(name)) ? [name] : []));
    const of = (name: string): readonly OpenGate[] =>
      gates
        .open(name)
        .map(({ gate: { id, hook, mode, description } }) => ({ id, hook: hook ?? '', mode, description }));
    return new Map([...new Set([...withGates, ...asking])].map((name) => [name, of(name)]));
  }

  const look = (): void => {
    next?.[Symbol.dispose]();
    let due: number | null = null;
    try {
      decisions.reconcile();
      due = decisions.nextDue();
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      log.warn(`decisions could not be looked at: ${error.explain()}`);
    }
    teller.look();
    const inMs = due === null ? LOOK_EVERY_MS : Math.max(0, due - clock.now());
    next = clock.after(Math.min(LOOK_EVERY_MS, inMs), look);
  };
  look();
  return {
    decisions,
    look,
    [Symbol.dispose]() {
      teller[Symbol.dispose]();
      next?.[Symbol.dispose]();
    },
  };
}
