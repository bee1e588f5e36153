import type { Board, OpenGate } from '../../core/board/index.ts';
import { createOpenDecisionLookup, type Decisions, openDecisions } from '../../core/inbox/decisions/index.ts';
import { createGatesForDecisions, createGitCheck, openGates, readGateOwners } from '../../core/inbox/gates/index.ts';
import type { LocalHive } from '../../core/inbox/index.ts';
import type { PersonaId } from '../../core/model/index.ts';
import { every, type Service } from '../../core/services/index.ts';
import { type Database, toStem } from '../../core/state/index.ts';
import type { Machine } from '../host/machine.ts';
import { createLocalNumbersService, type LocalNumbersService } from './local-numbers-service.ts';

/** Work that another process left undone is found within this time. */
const EVERY_MS = 30_000;
const GIT_MS = 1000;

export interface DecisionsService extends Service {
  readonly decisions: Decisions;
  /** Puts the decisions on the board, together with the other numbers that only the local hive has. */
  readonly numbers: LocalNumbersService;
  /** Checks now: another process may have added a decision with an earlier deadline. */
  wake(): void;
}

export interface DecisionsServiceOptions {
  readonly db: Database;
  readonly local: LocalHive;
  readonly state: string;
  /** Returns the id on the board of a persona of the local hive. */
  readonly toPersonaId: (name: string) => PersonaId;
  readonly board: Board;
}

/**
 * Runs the decisions in the tray process. It closes them at their deadline, and delivers answers that a crash left undelivered.
 */
export function createDecisionsService(options: DecisionsServiceOptions, machine: Machine): DecisionsService {
  const { db, local, state, toPersonaId, board } = options;
  const { disk, random, clock, log } = machine;
  const gates = openGates({
    disk,
    random,
    clock,
    state,
    items: null,
    git: createGitCheck(GIT_MS),
    findOpenDecisions: createOpenDecisionLookup(db, clock),
  });
  const decisions = openDecisions({
    db,
    items: local.items,
    gates: createGatesForDecisions(gates),
    wake: () => {}, // the watcher of this inbox sees the push itself
    emit({ id, persona, outcome }) {
      log.info(`decision ${id} of ${persona} is ${outcome.is}`);
      numbers.wake();
    },
    clock,
    log,
  });
  const numbers = createLocalNumbersService(
    { db, local, decisions, gates: findOpenGates, toPersonaId, board },
    machine,
  );

  function findOpenGates(asking: readonly string[]): ReadonlyMap<string, readonly OpenGate[]> {
    const stems = readGateOwners(disk, state);
    const withGates = local.personas().flatMap(({ name }) => (stems.has(toStem(name)) ? [name] : []));
    const listOpenGates = (name: string): readonly OpenGate[] =>
      gates
        .open(name)
        .map(({ gate: { id, hook, mode, description } }) => ({ id, hook: hook ?? '', mode, description }));
    return new Map([...new Set([...withGates, ...asking])].map((name) => [name, listOpenGates(name)]));
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
