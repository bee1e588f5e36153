import type { Board, OpenDecision, OpenGate } from '../../core/board/index.ts';
import {
  createOpenDecisionLookup,
  type Decision,
  type Decisions,
  openDecisions,
  waitForDecision,
} from '../../core/inbox/decisions/index.ts';
import { createGatesForDecisions, createGitCheck, openGates, readGateOwners } from '../../core/inbox/gates/index.ts';
import { createUnreadCounter, type LocalHive } from '../../core/inbox/index.ts';
import type { PersonaId } from '../../core/model/index.ts';
import { every, onDemand, type Service } from '../../core/services/index.ts';
import { type Database, type Dirs, toStem } from '../../core/state/index.ts';
import { locateInbox } from '../hook/index.ts';
import type { Machine } from '../host/machine.node.ts';
import type { DecisionsApi } from '../status/index.ts';

/** Work that another process left undone is found within this time. */
const EVERY_MS = 30_000;
const GIT_MS = 1000;

interface DecisionsService extends Service {
  readonly decisions: Decisions;
  /** The same for programs over HTTP, which may name a persona as the board does. */
  readonly api: DecisionsApi;
  /** Puts the decisions on the board, together with the other numbers that only the local hive has. */
  readonly numbers: LocalNumbersService;
  /** Checks now: another process may have added a decision with an earlier deadline. */
  wake(): void;
}

interface DecisionsServiceOptions {
  readonly db: Database;
  readonly local: LocalHive;
  readonly dirs: Pick<Dirs, 'state' | 'config'>;
  /** Returns the id on the board of a persona of the local hive. */
  readonly toPersonaId: (name: string) => PersonaId;
  readonly board: Board;
}

/**
 * Runs the decisions in the tray process. It closes them at their deadline, and delivers answers that a crash left undelivered.
 */
export function createDecisionsService(options: DecisionsServiceOptions, machine: Machine): DecisionsService {
  const { db, local, dirs, toPersonaId, board } = options;
  const { state, config } = dirs;
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
      noteChange();
    },
    clock,
    log,
  });
  const numbers = createLocalNumbersService(
    { db, local, decisions, gates: findOpenGates, toPersonaId, board },
    machine,
  );

  const waits = new Set<AbortController>();
  function noteChange(): void {
    for (const wait of waits) wait.abort();
  }
  async function untilChanged(ms: number, signal: AbortSignal): Promise<void> {
    const wait = new AbortController();
    waits.add(wait);
    await clock.sleep(ms, AbortSignal.any([signal, wait.signal]));
    waits.delete(wait);
  }

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
      noteChange(); // another process may have closed one
    },
  });
  const api: DecisionsApi = {
    ...decisions,
    create(asked) {
      const decision = decisions.create({ ...asked, persona: locateInbox(asked.persona, config).name });
      checks.wake(); // it may be the next to expire
      return decision;
    },
    wait: (id, limitMs, signal) => waitForDecision(id, { decisions, clock, limitMs, signal, untilChanged }),
  };
  return { ...checks, decisions, api, numbers };
}

interface LocalNumbersOptions {
  readonly db: Database;
  readonly local: LocalHive;
  readonly decisions: Pick<Decisions, 'list'>;
  /** Returns the open gates by name: of `asking`, who have open decisions, and of all others who have gates. @throws Fault */
  readonly gates: (asking: readonly string[]) => ReadonlyMap<string, readonly OpenGate[]>;
  /** Returns the id on the board of a persona of the local hive. */
  readonly toPersonaId: (name: string) => PersonaId;
  readonly board: Board;
}

interface LocalNumbersService extends Service {
  /** Reads decisions and gates again soon, because they changed in this or another process. */
  wake(): void;
}

/** Changes within this time are put on the board together. */
const GATHER_MS = 100;
/** The newest decisions, at most this many: a person does not answer more. */
const MOST_DECISIONS = 200;
const NO_GATES: readonly OpenGate[] = [];

/** Puts on the board what only the local hive knows: unread counts by priority, open gates, open decisions. */
export function createLocalNumbersService(
  options: LocalNumbersOptions,
  { clock }: Pick<Machine, 'clock'>,
): LocalNumbersService {
  const { db, local, decisions, toPersonaId, board } = options;
  const countPending = createUnreadCounter(db);
  /** The personas whose numbers must be counted again. */
  const changed = new Set<string>();
  let gates: ReadonlyMap<string, readonly OpenGate[]> = new Map();
  let areGatesOld = true;
  let hasRun = false;
  const name = 'numbers of the local hive';
  const rounds = onDemand({
    name,
    gatherMs: GATHER_MS,
    clock,
    round() {
      if (areGatesOld) readGates();
      count();
    },
  });

  function readGates(): void {
    const before = gates;
    const open = decisions.list({ persona: null, onlyOpen: true, limit: MOST_DECISIONS }).toReversed();
    gates = options.gates(open.map(({ persona }) => persona));
    for (const name of [...before.keys(), ...gates.keys()]) changed.add(name);
    // Without a question nobody's name is looked up, and no snapshot of thousands of personas is made for it.
    const known = new Set(open.length === 0 ? [] : board.snapshot().personas.map(({ id }) => id));
    // Whoever asks may be known by its bare name as the persona of another hive.
    const whoAsks = (name: string): PersonaId => (known.has(name) ? name : toPersonaId(name));
    board.put({
      is: 'decisions',
      at: clock.now(),
      decisions: open.map((decision) => toOpenDecision(decision, whoAsks)),
    });
    areGatesOld = false;
  }

  function count(): void {
    const at = clock.now();
    for (const name of changed) {
      const values = { pending: countPending(name, at), gates: gates.get(name) ?? NO_GATES };
      changed.delete(name);
      board.put({ is: 'reported', at, persona: toPersonaId(name), values });
    }
  }

  function wake(): void {
    areGatesOld = true;
    rounds.wake();
  }

  return {
    name,
    wake,
    async run(signal) {
      areGatesOld = true;
      // Between a failure and this start nobody listened for what changed.
      if (hasRun) for (const persona of local.personas()) changed.add(persona.name);
      hasRun = true;
      using _hints = local.hints((name) => {
        changed.add(name);
        rounds.wake();
      });
      // The board drops facts about a persona that has not joined yet.
      using _joins = board.facts((fact) => {
        if (fact.is !== 'joined') return;
        if (toPersonaId(fact.address) === fact.persona) changed.add(fact.address);
        wake();
      });
      await rounds.run(signal);
    },
  };
}

function toOpenDecision({ persona, ...decision }: Decision, whoAsks: (name: string) => PersonaId): OpenDecision {
  const { id, prompt, context, options, freeText, fallback, urgency, blocking, created, expires } = decision;
  const question = { prompt, context, options, freeText, fallback, urgency, blocking, created, expires };
  return { id, persona: whoAsks(persona), ...question };
}
