import { Fault, type PersonaId } from '../../model/index.ts';
import type { Clock, Random } from '../../ports/index.ts';
import type { Disk } from '../../state/index.ts';
import type { Items, OwnItem } from '../item.ts';
import { isCheckedByHook } from './built-ins.ts';
import {
  canLoop,
  evaluateGates,
  type GateEvaluation,
  type GateVerdict,
  type GitCheck,
  letGoBlock,
  runChecks,
  type Workplace,
} from './evaluate.ts';
import {
  type AgentToolCall,
  type Asker,
  applyOpenDecisions,
  type CheckName,
  checkGate,
  DECISION,
  DECISION_WAITING,
  type Gate,
  type GateMark,
  type GateState,
  HOOKS,
  type Hook,
  holds,
  isConsumed,
  type MarkProvenance,
  type OpenDecisionLookup,
  toSessionKey,
  type UnansweredDecision,
} from './gate.ts';
import { type AllGates, openGateFiles } from './gate-files.ts';
import { createTurnFile, type TurnFile } from './turn-file.ts';

export interface GatesOptions {
  readonly disk: Disk;
  readonly random: Random;
  readonly clock: Clock;
  /** The state directory; the gates are in its folder `gates`. */
  readonly state: string;
  /** Called when there is something to push. Null: items cannot be pushed, but marks count anyway. */
  readonly items: (() => Pick<Items, 'pushOwn'>) | null;
  readonly git: GitCheck;
  /** Called when the gate `decision` is checked. If it throws, that is reported, and no decision counts as open. */
  readonly findOpenDecisions: OpenDecisionLookup;
}

export interface CheckRequest extends Asker, Workplace {
  readonly persona: PersonaId;
  readonly hook: Hook;
  readonly stopHookActive: boolean;
  readonly apiError: boolean;
  readonly soft: boolean;
  /** See `GateQuestion.also`; empty: nothing. */
  readonly also: string;
  /** See `GateQuestion.call`. */
  readonly call: AgentToolCall | null;
  /** `hook`: only gates that a hook checks; see `isCheckedByHook`. */
  readonly by: 'hook' | 'command';
}

/** Who marks a gate, and for which session; null: every session of the persona. */
export interface GateMarkRequest {
  readonly by: MarkProvenance;
  readonly session: string | null;
  readonly terminal: string | null;
  /** False: somebody else tells the persona. */
  readonly tells: boolean;
}

export interface GateStatus extends GateState {
  readonly isSatisfied: boolean;
  /** Whether the gate counts now; false: see `toGateTiming`. */
  readonly counts: boolean;
}

/** The gates of every persona (contract 4). They are files, and nothing is kept in memory. */
export interface Gates {
  /** @throws Fault `unreadable` */
  list(persona: PersonaId): AllGates;
  /**
   * The gates that a hook checks now, satisfied or not. The description of `decision` says what is not answered.
   * @throws Fault `unreadable`, and what `findOpenDecisions` throws
   */
  listHookGates(persona: PersonaId): readonly GateState[];
  /**
   * Those gates of a hook that were registered or stand for an open decision, and are not satisfied: what a person wants to see.
   * Runs nothing: for a gate with a check it uses the result of the last hook. A mark for one session counts.
   * @throws what `listHookGates` throws
   */
  open(persona: PersonaId): readonly GateState[];
  /** Null: there is no such gate. */
  find(persona: PersonaId, id: string): GateState | null;
  /** Registers a gate of the persona; an existing mark is kept. @throws Fault `usage`, `unwritable`, `no-space` */
  register(persona: PersonaId, gate: Gate): void;
  /**
   * Marks a gate as satisfied, and tells the persona if it was not satisfied before. The caller checks whether this is allowed,
   * see `needsForce`. Null: there is no such gate. @throws Fault `unwritable` or `no-space`
   */
  mark(persona: PersonaId, id: string, request: GateMarkRequest): GateState | null;
  /** Removes a gate; a built-in gate gets its default again. False: the gate had no file. @throws Fault */
  remove(persona: PersonaId, id: string): boolean;
  /**
   * Writes a file for a built-in gate that holds from now on, so that the script of the hook sees it even if the program is gone.
   * @throws Fault `unwritable` or `no-space`
   */
  noteOpen(persona: PersonaId, id: string): void;
  /** Clears the marks of these gates and returns the ids of those that had one. @throws Fault */
  clear(persona: PersonaId, which: (gate: Gate) => boolean): readonly string[];
  /**
   * Checks the gates of a hook and does what follows: it counts the block, uses up the mark of a decision, and marks gates whose
   * check passed. Never rejects, and never blocks because something of ours failed.
   */
  check(request: CheckRequest): Promise<GateVerdict>;
  /** Each gate of a hook, and whether it is satisfied now. Changes nothing. @throws Fault `unreadable` */
  status(request: Asker & Workplace & { readonly persona: PersonaId }): Promise<readonly GateStatus[]>;
  /**
   * Begins a new turn after a prompt: earlier blocks do not count any more. `check` of UserPromptSubmit does this itself. @throws
   * Fault
   */
  beginTurn(persona: PersonaId, session: string): void;
  /** Ends a session: removes its marks of soft gates and its turn file. @throws Fault */
  endSession(persona: PersonaId, session: string): void;
}

/** How long the news that a gate resolved is worth showing. */
const TELL_MS = 24 * 3_600_000;

export function openGates({ disk, random, clock, state, items, git, findOpenDecisions }: GatesOptions): Gates {
  const files = openGateFiles(disk, random, state, clock);
  const openTurnFile = (persona: PersonaId, session: string): TurnFile =>
    createTurnFile(disk, files.at(persona), session, clock);

  /** Call it after the mark is on the disk. If it fails, the gate is satisfied anyway. */
  function tell(persona: PersonaId, id: string, mark: GateMark): void {
    if (items === null) return;
    try {
      items().pushOwn(toResolvedItem(persona, id, mark));
    } catch (error) {
      disk.log.warn(`gate ${id}: ${persona} could not be notified that it resolved: ${formatError(error)}`, {
        persona,
      });
    }
  }

  function writeMark(persona: PersonaId, gateState: GateState, mark: GateMark, tells: boolean): void {
    const { gate, mark: before } = gateState;
    files.write(persona, { ...gateState, mark });
    const asker = { session: mark.session ?? before?.session ?? '', terminal: mark.terminal };
    const wasSatisfied = before?.by !== 'auto' && holds({ gate, mark: before, isBuiltIn: false }, asker, mark.at);
    if (tells && !wasSatisfied) tell(persona, gate.id, mark);
  }

  function clear(persona: PersonaId, which: (gateState: GateState) => boolean): readonly string[] {
    const marked = files.read(persona).gateStates.filter((gateState) => gateState.mark !== null && which(gateState));
    for (const gateState of marked) files.write(persona, { ...gateState, mark: null });
    return marked.map(({ gate }) => gate.id);
  }

  /** Reports errors and goes on, because none of them may stop a session. */
  function attempt(work: () => void, troubles: string[]): void {
    try {
      work();
    } catch (error) {
      troubles.push(formatError(error));
    }
  }

  async function evaluateHook(checkRequest: CheckRequest, troubles: string[]): Promise<GateEvaluation> {
    const request = { ...checkRequest, session: toSessionKey(checkRequest.session) };
    const { persona, session, hook } = request;
    const turns = openTurnFile(persona, session);
    if (hook === 'UserPromptSubmit') attempt(() => turns.begin(), troubles);
    const { gateStates: allStates, odd } = files.read(persona);
    troubles.push(...odd.map(({ path, why }) => `${path} is not a gate and blocks nothing: ${why}`));
    const meant = checkRequest.by === 'hook' ? allStates.filter(isCheckedByHook) : allStates;
    const hookStates = meant.filter(({ gate }) => gate.hook === hook);
    const openDecisions = hookStates.some(isDecision) ? tryFindOpenDecisions(persona, troubles) : [];
    const gateStates = applyOpenDecisions(meant, openDecisions ?? []);
    const checks = await runChecks(listNeededChecks(hookStates, request, clock.now()), request, git);
    const turn = turns.read();
    const now = clock.now();
    const undecided = openDecisions === null ? (troubles.at(-1) ?? '') : null;
    const first = { ...evaluateGates({ ...request, gateStates, checks, turn, now }), undecided };
    // The block is counted before it is given: a block that cannot be counted must not happen.
    const verdict =
      first.decision === 'allow' || !canLoop(hook) || turns.claim(first.print, random.hex(8))
        ? first
        : letGoBlock(first, 'blocked-enough');
    for (const gateState of hookStates) {
      const { id } = gateState.gate;
      if (verdict.passed.includes(id) && !isConsumed(gateState.gate)) {
        const mark = { by: 'auto', at: now, session, terminal: request.terminal } as const;
        attempt(() => writeMark(persona, gateState, mark, turn.open.includes(id)), troubles);
      }
      // A person who looks at open gates must not see an old result of a check.
      if (verdict.open.includes(id) && !gateState.isBuiltIn && gateState.mark?.by === 'auto') {
        attempt(() => files.write(persona, { ...gateState, mark: null }), troubles);
      }
      if (verdict.decision === 'allow' && first.consumed.includes(id)) {
        attempt(() => consume(persona, gateState), troubles);
      }
    }
    const otherOpenIds = turn.open.filter((id) => !hookStates.some(({ gate }) => gate.id === id));
    const open = [...otherOpenIds, ...verdict.open];
    if (open.join() !== turn.open.join()) attempt(() => turns.tell(open), troubles);
    return verdict;
  }

  /** Clears a mark unless it was replaced meanwhile: the new mark is for the next stop. */
  function consume(persona: PersonaId, { gate, mark }: GateState): void {
    const now = files.find(persona, gate.id);
    if (now !== null && now.mark?.at === mark?.at && now.mark?.by === mark?.by)
      files.write(persona, { ...now, mark: null });
  }

  function tryFindOpenDecisions(persona: PersonaId, troubles: string[]): readonly UnansweredDecision[] | null {
    try {
      return findOpenDecisions(persona);
    } catch (error) {
      troubles.push(`open decisions could not be looked up, so none is assumed to be open: ${formatError(error)}`);
      return null;
    }
  }

  const listGateStates = (persona: PersonaId): readonly GateState[] =>
    applyOpenDecisions(files.read(persona).gateStates, findOpenDecisions(persona));

  return {
    list: (persona) => files.read(persona),
    listHookGates: (persona) =>
      listGateStates(persona).filter((gateState) => gateState.gate.hook !== null && isCheckedByHook(gateState)),
    open(persona) {
      const gateStates = listGateStates(persona);
      const at = clock.now();
      const isGateSatisfied = (gateState: GateState): boolean =>
        holds(gateState, { session: gateState.mark?.session ?? '', terminal: null }, at);
      const isWaiting = gateStates.some(
        (gateState) => gateState.gate.id === DECISION_WAITING && isGateSatisfied(gateState),
      );
      return gateStates.filter((gateState) => {
        const { gate, isBuiltIn } = gateState;
        if (gate.hook === null || !isCheckedByHook(gateState) || (isBuiltIn && gate.id !== DECISION)) return false;
        return !isGateSatisfied(gateState) && !(gate.check === 'decision-waiting' && isWaiting);
      });
    },
    find: (persona, id) => files.find(persona, id),
    register(persona, gate) {
      const before = files.find(persona, gate.id);
      // The result of one check does not count for another check.
      const isMarkValid = before?.mark?.by !== 'auto' || before.gate.check === gate.check;
      files.write(persona, {
        gate: checkGate(gate),
        mark: isMarkValid ? (before?.mark ?? null) : null,
        isBuiltIn: false,
      });
    },
    mark(persona, id, { by, session, terminal, tells }) {
      const gateState = files.find(persona, id);
      if (gateState === null) return null;
      const mark: GateMark = {
        by,
        at: clock.now(),
        session: session === null ? null : toSessionKey(session),
        terminal,
      };
      writeMark(persona, gateState, mark, tells);
      return { ...gateState, mark };
    },
    remove: (persona, id) => files.remove(persona, id),
    noteOpen(persona, id) {
      const gateState = files.find(persona, id);
      if (gateState?.isBuiltIn === true && !files.has(persona, id)) files.write(persona, gateState);
    },
    clear: (persona, which) => clear(persona, ({ gate }) => which(gate)),
    async check(request) {
      const troubles: string[] = [];
      let verdict: GateVerdict;
      try {
        const { decision, reason, results, warnings, letGo, undecided } = await evaluateHook(request, troubles);
        verdict = { decision, reason, results, warnings, letGo, undecided };
      } catch (error) {
        const undecided = `the gates could not be checked: ${formatError(error)}`;
        troubles.push(undecided);
        verdict = { decision: 'allow', reason: '', results: [], warnings: [], letGo: null, undecided };
      }
      for (const trouble of troubles) disk.log.warn(trouble, { persona: request.persona });
      return { ...verdict, warnings: [...verdict.warnings, ...troubles] };
    },
    async status(statusRequest) {
      const request = { ...statusRequest, session: toSessionKey(statusRequest.session) };
      const allStates = files.read(request.persona).gateStates;
      const gateStates = applyOpenDecisions(allStates, findOpenDecisions(request.persona));
      const now = clock.now();
      const checks = await runChecks(listNeededChecks(gateStates, request, now), request, git);
      const plain = {
        stopHookActive: false,
        apiError: false,
        soft: false,
        also: '',
        call: null,
        turn: { blocks: [], open: [] },
      };
      return HOOKS.flatMap((hook) => {
        const { results } = evaluateGates({ ...request, ...plain, hook, gateStates, checks, now });
        return allStates.flatMap((gateState) => {
          if (gateState.gate.hook !== hook) return [];
          const counting = gateStates.find(({ gate }) => gate.id === gateState.gate.id);
          const isSatisfied = !results.some((result) => result.gate_id === gateState.gate.id && !result.satisfied);
          return [{ ...(counting ?? gateState), isSatisfied, counts: counting !== undefined }];
        });
      });
    },
    beginTurn: (persona, session) => openTurnFile(persona, session).begin(),
    endSession(persona, session) {
      clear(persona, ({ gate, mark }) => gate.mode === 'soft' && mark?.session === toSessionKey(session));
      openTurnFile(persona, session).remove();
    },
  };
}

const isDecision = ({ gate }: GateState): boolean => gate.id === DECISION;

/** The checks that must run, because each has a cost: those of gates without a valid mark from another source than a check. */
function listNeededChecks(gateStates: readonly GateState[], asker: Asker, now: number): ReadonlySet<CheckName> {
  const neededChecks = gateStates.flatMap((gateState) => {
    const { check } = gateState.gate;
    if (check === null || check === 'decision-waiting') return [];
    return gateState.mark?.by !== 'auto' && holds(gateState, asker, now) ? [] : [check];
  });
  return new Set(neededChecks);
}

const WORDS = {
  auto: 'its check passed',
  cli: 'it was marked',
  decision: 'the decision was answered',
  operator: 'the operator marked it',
} as const satisfies Record<MarkProvenance, string>;

/** The key names the gate and when it resolved, because the same gate may resolve again, and so may another persona's. */
function toResolvedItem(persona: PersonaId, id: string, { by, at }: GateMark): OwnItem {
  return {
    persona,
    key: `gate:${id}:${persona}:${at}`,
    type: 'gate',
    source: 'hivebar gate',
    content: `Gate ${id} resolved: ${WORDS[by]}`,
    priority: 2,
    session: null,
    created: at,
    expires: at + TELL_MS,
  };
}

function formatError(error: unknown): string {
  if (error instanceof Fault) return error.message;
  return error instanceof Error ? error.message : String(error);
}
