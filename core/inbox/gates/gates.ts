import { Fault, type PersonaId } from '../../model/index.ts';
import type { Clock, Random } from '../../ports/index.ts';
import type { Disk } from '../../state/index.ts';
import type { Items, OwnItem } from '../item.ts';
import { isCheckedByHook } from './built-ins.ts';
import { type GitCheck, runChecks, type Workplace } from './checks.ts';
import { canLoop, evaluateGates, type GateEvaluation, type GateVerdict, letGoBlock } from './evaluate.ts';
import {
  type Asker,
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
  toSessionKey,
} from './gate.ts';
import { type AllGates, openGateFiles } from './gate-files.ts';
import type { AgentToolCall } from './matcher.ts';
import { applyOpenDecisions, type OpenDecisionLookup, type UnansweredDecision } from './open-decisions.ts';
import { createTurnFile, type TurnFile } from './turn-file.ts';

export interface GatesOptions {
  readonly disk: Disk;
  readonly random: Random;
  readonly clock: Clock;
  /** The state directory; the gates are in `gates` below it. */
  readonly state: string;
  /** Asked for when there is something to push. Null: there is nowhere to push to, and marks count all the same. */
  readonly items: (() => Pick<Items, 'pushOwn'>) | null;
  readonly git: GitCheck;
  /** Asked for when the gate `decision` is; what it throws is said, and nothing is taken for asked. */
  readonly findOpenDecisions: OpenDecisionLookup;
}

export interface CheckRequest extends Asker, Workplace {
  readonly persona: PersonaId;
  readonly hook: Hook;
  readonly stopHookActive: boolean;
  readonly apiError: boolean;
  readonly soft: boolean;
  /** See `Question.also`; empty for nothing. */
  readonly also: string;
  /** See `Question.call`. */
  readonly call: AgentToolCall | null;
  /** `hook`: of gates that a hook asks about only; see `isAsked`. */
  readonly by: 'hook' | 'command';
}

/** Who marks a gate, and for whom: a session null is every session of the persona. */
export interface GateMarkRequest {
  readonly by: MarkProvenance;
  readonly session: string | null;
  readonly terminal: string | null;
  /** False: somebody else tells the persona. */
  readonly tells: boolean;
}

export interface GateStatus extends GateState {
  readonly isSatisfied: boolean;
  /** It counts now; false: see `toGateTiming`. */
  readonly counts: boolean;
}

/** The gates of every persona (contract 4): files, and nothing kept in memory. */
export interface Gates {
  /** @throws Fault `unreadable` */
  list(persona: PersonaId): AllGates;
  /**
   * The gates that a hook asks about now, whether they are satisfied or not; `decision` says what is not answered.
   * @throws Fault `unreadable`, and what `asked` throws
   */
  listHookGates(persona: PersonaId): readonly GateState[];
  /**
   * Those of them that somebody put there, by registering or by asking, and that are not satisfied: what a person wants to see.
   * Nothing is run: of a gate with a check it says what the last hook found. A mark for one session counts.
   * @throws as `asked` does
   */
  open(persona: PersonaId): readonly GateState[];
  /** Null: there is no such gate. */
  find(persona: PersonaId, id: string): GateState | null;
  /** From now on the persona has this gate; a mark it has is kept. @throws Fault `usage`, `unwritable`, `no-space` */
  register(persona: PersonaId, gate: Gate): void;
  /**
   * The gate is satisfied; the persona's inbox is told when it was not so before. Whether whoever asks may do so, see
   * `needsForce`, is the caller's matter. Null: there is no such gate. @throws Fault `unwritable` or `no-space`
   */
  mark(persona: PersonaId, id: string, request: GateMarkRequest): GateState | null;
  /** The persona has this gate no longer; a built-in one is again as every persona has it. False: there was no file of it. @throws Fault */
  remove(persona: PersonaId, id: string): boolean;
  /**
   * Has a file for a built-in gate that holds from now on, so that the script of the hook sees it where the program is gone.
   * @throws Fault `unwritable` or `no-space`
   */
  noteOpen(persona: PersonaId, id: string): void;
  /** Takes the marks of those gates away and says whose there was one. @throws Fault */
  clear(persona: PersonaId, which: (gate: Gate) => boolean): readonly string[];
  /**
   * What the gates of a hook say, with everything that follows from it: the block counted, the mark of a decision used up,
   * checks that passed marked. Never rejects, and never blocks because something of ours failed.
   */
  check(request: CheckRequest): Promise<GateVerdict>;
  /** Each gate of a hook, and whether it is satisfied now; nothing is changed. @throws Fault `unreadable` */
  status(request: Asker & Workplace & { readonly persona: PersonaId }): Promise<readonly GateStatus[]>;
  /** A prompt came: the blocks so far are no concern of the new turn. `check` of UserPromptSubmit does it itself. @throws Fault */
  beginTurn(persona: PersonaId, session: string): void;
  /** The session is over: its marks of soft gates go, and what was kept of its turn. @throws Fault */
  endSession(persona: PersonaId, session: string): void;
}

/** How long it is worth telling that a gate resolved. */
const TELL_MS = 24 * 3_600_000;

export function openGates({ disk, random, clock, state, items, git, findOpenDecisions }: GatesOptions): Gates {
  const files = openGateFiles(disk, random, state, clock);
  const openTurnFile = (persona: PersonaId, session: string): TurnFile =>
    createTurnFile(disk, files.at(persona), session, clock);

  /** After the mark is on the disk; that it could not be told makes the gate no less satisfied. */
  function tell(persona: PersonaId, id: string, mark: GateMark): void {
    if (items === null) return;
    try {
      items().pushOwn(toResolvedItem(persona, id, mark));
    } catch (error) {
      disk.log.warn(`gate ${id}: ${persona} was not told that it resolved: ${formatError(error)}`, { persona });
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

  /** Says what goes wrong and goes on: none of it may keep a session from going on. */
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
    // The block is written down before it is given: one that cannot be counted is none.
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
      // A person who looks at what is open is not told of a check that passed some time ago.
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

  /** Unless it is another mark by now: that one is for the next stop. */
  function consume(persona: PersonaId, { gate, mark }: GateState): void {
    const now = files.find(persona, gate.id);
    if (now !== null && now.mark?.at === mark?.at && now.mark?.by === mark?.by)
      files.write(persona, { ...now, mark: null });
  }

  function tryFindOpenDecisions(persona: PersonaId, troubles: string[]): readonly UnansweredDecision[] | null {
    try {
      return findOpenDecisions(persona);
    } catch (error) {
      troubles.push(
        `whether a decision is open could not be looked up, and none is taken for open: ${formatError(error)}`,
      );
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
      const isMarked = (gateState: GateState): boolean =>
        holds(gateState, { session: gateState.mark?.session ?? '', terminal: null }, at);
      const isWaiting = gateStates.some((gateState) => gateState.gate.id === DECISION_WAITING && isMarked(gateState));
      return gateStates.filter((gateState) => {
        const { gate, isBuiltIn } = gateState;
        if (gate.hook === null || !isCheckedByHook(gateState) || (isBuiltIn && gate.id !== DECISION)) return false;
        return !isMarked(gateState) && !(gate.check === 'decision-waiting' && isWaiting);
      });
    },
    find: (persona, id) => files.find(persona, id),
    register(persona, gate) {
      const before = files.find(persona, gate.id);
      // What one check found is no word for another.
      const keepsMark = before?.mark?.by !== 'auto' || before.gate.check === gate.check;
      files.write(persona, {
        gate: checkGate(gate),
        mark: keepsMark ? (before?.mark ?? null) : null,
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

/** The checks whose answer matters, each a cost: those of gates that nobody's word holds closed. */
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

/** The key names the gate, and which resolving of it: the same gate resolves again, and so does another persona's. */
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
