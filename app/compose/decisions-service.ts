import type { Board, OpenGate } from '../../core/board/index.ts';
import { askedIn, type Decisions, openDecisions } from '../../core/inbox/decisions/index.ts';
import { gateOwners, gatesForDecisions, openGates, realGit } from '../../core/inbox/gates/index.ts';
import type { LocalHive } from '../../core/inbox/index.ts';
import type { PersonaId } from '../../core/model/index.ts';
import { every, type Service } from '../../core/services/index.ts';
import { type Database, stemOf } from '../../core/state/index.ts';
import { createLocalNumbersService, type LocalNumbersService } from './local-numbers-service.ts';
import type { Machine } from './machine.ts';

/** What another process left undone is found within this time. */
const EVERY_MS = 30_000;
const GIT_MS = 1000;

export interface DecisionsService extends Service {
  readonly decisions: Decisions;
  /** Puts them on the board, with what else only the local hive knows. */
  readonly numbers: LocalNumbersService;
  /** Checks now: another process may have asked, with a time that is over sooner. */
  wake(): void;
}

export interface DecisionsServiceOptions {
  readonly db: Database;
  readonly local: LocalHive;
  readonly state: string;
  /** The id on the board of a persona of the local hive. */
  readonly idOf: (name: string) => PersonaId;
  readonly board: Board;
}

/** The decisions in the tray process: closed when their time is over, and their answers delivered where a crash came between. */
export function createDecisionsService(options: DecisionsServiceOptions, machine: Machine): DecisionsService {
  const { db, local, state, idOf, board } = options;
  const { disk, random, clock, log } = machine;
  const gates = openGates({ disk, random, clock, state, items: null, git: realGit(GIT_MS), asked: askedIn(db, clock) });
  const decisions = openDecisions({
    db,
    items: local.items,
    gates: gatesForDecisions(gates),
    wake: () => {}, // the push itself is seen by the watch of this inbox
    emit({ id, persona, outcome }) {
      log.info(`decision ${id} of ${persona} is ${outcome.is}`);
      numbers.wake();
    },
    clock,
    log,
  });
  const numbers = createLocalNumbersService({ db, local, decisions, gates: openGatesNow, idOf, board }, machine);

  function openGatesNow(asking: readonly string[]): ReadonlyMap<string, readonly OpenGate[]> {
    const stems = gateOwners(disk, state);
    const withGates = local.personas().flatMap(({ name }) => (stems.has(stemOf(name)) ? [name] : []));
    const of = (name: string): readonly OpenGate[] =>
      gates
        .open(name)
        .map(({ gate: { id, hook, mode, description } }) => ({ id, hook: hook ?? '', mode, description }));
    return new Map([...new Set([...withGates, ...asking])].map((name) => [name, of(name)]));
  }

  const checks = every({
    name: 'decisions',
    ms: () => Math.min(EVERY_MS, Math.max(0, (decisions.nextDue() ?? Number.POSITIVE_INFINITY) - clock.now())),
    clock,
    round() {
      numbers.wake();
      decisions.reconcile();
    },
  });
  return { ...checks, decisions, numbers };
}
