import { Fault, type PersonaId } from '../../model/index.ts';
import type { Clock, Random } from '../../ports/index.ts';
import type { Disk } from '../../state/index.ts';
import type { Items, OwnItem } from '../item.ts';
import { type Asked, type LookAtAsked, standingNow } from './asked.ts';
import { isAsked } from './built-ins.ts';
import { askChecks, type LookAtGit, type Place } from './checks.ts';
import { canLoop, evaluate, type Judged, type Verdict, withoutBlock } from './evaluate.ts';
import {
  type Asker,
  type CheckName,
  checkedGate,
  DECISION,
  DECISION_WAITING,
  type Gate,
  HOOKS,
  type Hook,
  holds,
  isConsumed,
  type Mark,
  type Provenance,
  type Standing,
  sessionKey,
} from './gate.ts';
import { type AllGates, gateFiles } from './gate-files.ts';
import type { ToolCall } from './matcher.ts';
import { type TurnFile, turnFile } from './turn-file.ts';

export interface GatesOptions {
  readonly disk: Disk;
  readonly random: Random;
  readonly clock: Clock;
  /** The state directory; the gates are in `gates` below it. */
  readonly state: string;
  /** Asked for when there is something to push. Null: there is nowhere to push to, and marks count all the same. */
  readonly items: (() => Pick<Items, 'pushOwn'>) | null;
  readonly git: LookAtGit;
  /** Asked for when the gate `decision` is; what it throws is said, and nothing is taken for asked. */
  readonly asked: LookAtAsked;
}

export interface CheckRequest extends Asker, Place {
  readonly persona: PersonaId;
  readonly hook: Hook;
  readonly stopHookActive: boolean;
  readonly apiError: boolean;
  readonly soft: boolean;
  /** See `Question.also`; empty for nothing. */
  readonly also: string;
  /** See `Question.call`. */
  readonly call: ToolCall | null;
  /** `hook`: of gates that a hook asks about only; see `isAsked`. */
  readonly by: 'hook' | 'command';
}

/** Who marks a gate, and for whom: a session null is every session of the persona. */
export interface MarkRequest {
  readonly by: Provenance;
  readonly session: string | null;
  readonly terminal: string | null;
  /** False: somebody else tells the persona. */
  readonly tells: boolean;
}

export interface Stand extends Standing {
  readonly isSatisfied: boolean;
  /** It counts now; false: see `whenOf`. */
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
  asked(persona: PersonaId): readonly Standing[];
  /**
   * Those of them that somebody put there, by registering or by asking, and that are not satisfied: what a person wants to see.
   * Nothing is run: of a gate with a check it says what the last hook found. A mark for one session counts.
   * @throws as `asked` does
   */
  open(persona: PersonaId): readonly Standing[];
  /** Null: there is no such gate. */
  one(persona: PersonaId, id: string): Standing | null;
  /** From now on the persona has this gate; a mark it has is kept. @throws Fault `usage`, `unwritable`, `no-space` */
  register(persona: PersonaId, gate: Gate): void;
  /**
   * The gate is satisfied; the persona's inbox is told when it was not so before. Whether whoever asks may do so, see
   * `needsForce`, is the caller's matter. Null: there is no such gate. @throws Fault `unwritable` or `no-space`
   */
  mark(persona: PersonaId, id: string, request: MarkRequest): Standing | null;
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
  check(request: CheckRequest): Promise<Verdict>;
  /** Each gate of a hook, and whether it is satisfied now; nothing is changed. @throws Fault `unreadable` */
  status(request: Asker & Place & { readonly persona: PersonaId }): Promise<readonly Stand[]>;
  /** A prompt came: the blocks so far are no concern of the new turn. `check` of UserPromptSubmit does it itself. @throws Fault */
  beginTurn(persona: PersonaId, session: string): void;
  /** The session is over: its marks of soft gates go, and what was kept of its turn. @throws Fault */
  endSession(persona: PersonaId, session: string): void;
}

/** How long it is worth telling that a gate resolved. */
const TELL_MS = 24 * 3_600_000;

export function openGates({ disk, random, clock, state, items, git, asked: askedBy }: GatesOptions): Gates {
  const files = gateFiles(disk, random, state, clock);
  const turnOf = (persona: PersonaId, session: string): TurnFile => turnFile(disk, files.at(persona), session, clock);

  /** After the mark is on the disk; that it could not be told makes the gate no less satisfied. */
  function tell(persona: PersonaId, id: string, mark: Mark): void {
    if (items === null) return;
    try {
      items().pushOwn(resolved(persona, id, mark));
    } catch (error) {
      disk.log.warn(`gate ${id}: ${persona} was not told that it resolved: ${wordsOf(error)}`, { persona });
    }
  }

  function putMark(persona: PersonaId, standing: Standing, mark: Mark, tells: boolean): void {
    const { gate, mark: before } = standing;
    files.write(persona, { ...standing, mark });
    const asker = { session: mark.session ?? before?.session ?? '', terminal: mark.terminal };
    const wasSatisfied = before?.by !== 'auto' && holds({ gate, mark: before, isBuiltIn: false }, asker, mark.at);
    if (tells && !wasSatisfied) tell(persona, gate.id, mark);
  }

  function clear(persona: PersonaId, which: (standing: Standing) => boolean): readonly string[] {
    const marked = files.read(persona).standings.filter((standing) => standing.mark !== null && which(standing));
    for (const standing of marked) files.write(persona, { ...standing, mark: null });
    return marked.map(({ gate }) => gate.id);
  }

  /** Says what goes wrong and goes on: none of it may keep a session from going on. */
  function tried(work: () => void, troubles: string[]): void {
    try {
      work();
    } catch (error) {
      troubles.push(wordsOf(error));
    }
  }

  async function judged(given: CheckRequest, troubles: string[]): Promise<Judged> {
    const request = { ...given, session: sessionKey(given.session) };
    const { persona, session, hook } = request;
    const turns = turnOf(persona, session);
    if (hook === 'UserPromptSubmit') tried(() => turns.begin(), troubles);
    const { standings: all, odd } = files.read(persona);
    troubles.push(...odd.map(({ path, why }) => `${path} is not a gate and blocks nothing: ${why}`));
    const meant = given.by === 'hook' ? all.filter(isAsked) : all;
    const here = meant.filter(({ gate }) => gate.hook === hook);
    const asked = here.some(isDecision) ? askedOrNone(persona, troubles) : [];
    const standings = standingNow(meant, asked ?? []);
    const checks = await askChecks(checksOf(here, request, clock.now()), request, git);
    const turn = turns.read();
    const now = clock.now();
    const undecided = asked === null ? (troubles.at(-1) ?? '') : null;
    const first = { ...evaluate({ ...request, standings, checks, turn, now }), undecided };
    // The block is written down before it is given: one that can not be counted is none.
    const verdict =
      first.decision === 'allow' || !canLoop(hook) || turns.claim(first.print, random.hex(8))
        ? first
        : withoutBlock(first, 'blocked-enough');
    for (const standing of here) {
      const { id } = standing.gate;
      if (verdict.passed.includes(id) && !isConsumed(standing.gate)) {
        const mark = { by: 'auto', at: now, session, terminal: request.terminal } as const;
        tried(() => putMark(persona, standing, mark, turn.open.includes(id)), troubles);
      }
      // A person who looks at what is open is not told of a check that passed some time ago.
      if (verdict.open.includes(id) && !standing.isBuiltIn && standing.mark?.by === 'auto') {
        tried(() => files.write(persona, { ...standing, mark: null }), troubles);
      }
      if (verdict.decision === 'allow' && first.consumed.includes(id)) {
        tried(() => consume(persona, standing), troubles);
      }
    }
    const others = turn.open.filter((id) => !here.some(({ gate }) => gate.id === id));
    const open = [...others, ...verdict.open];
    if (open.join() !== turn.open.join()) tried(() => turns.tell(open), troubles);
    return verdict;
  }

  /** Unless it is another mark by now: that one is for the next stop. */
  function consume(persona: PersonaId, { gate, mark }: Standing): void {
    const now = files.one(persona, gate.id);
    if (now !== null && now.mark?.at === mark?.at && now.mark?.by === mark?.by)
      files.write(persona, { ...now, mark: null });
  }

  function askedOrNone(persona: PersonaId, troubles: string[]): readonly Asked[] | null {
    try {
      return askedBy(persona);
    } catch (error) {
      troubles.push(`whether a decision is open could not be looked up, and none is taken for open: ${wordsOf(error)}`);
      return null;
    }
  }

  const now = (persona: PersonaId): readonly Standing[] => standingNow(files.read(persona).standings, askedBy(persona));

  return {
    list: (persona) => files.read(persona),
    asked: (persona) => now(persona).filter((standing) => standing.gate.hook !== null && isAsked(standing)),
    open(persona) {
      const standings = now(persona);
      const at = clock.now();
      const isMarked = (standing: Standing): boolean =>
        holds(standing, { session: standing.mark?.session ?? '', terminal: null }, at);
      const isWaiting = standings.some((one) => one.gate.id === DECISION_WAITING && isMarked(one));
      return standings.filter((standing) => {
        const { gate, isBuiltIn } = standing;
        if (gate.hook === null || !isAsked(standing) || (isBuiltIn && gate.id !== DECISION)) return false;
        return !isMarked(standing) && !(gate.check === 'decision-waiting' && isWaiting);
      });
    },
    one: (persona, id) => files.one(persona, id),
    register(persona, gate) {
      const before = files.one(persona, gate.id);
      // What one check found is no word for another.
      const isKept = before?.mark?.by !== 'auto' || before.gate.check === gate.check;
      files.write(persona, { gate: checkedGate(gate), mark: isKept ? (before?.mark ?? null) : null, isBuiltIn: false });
    },
    mark(persona, id, { by, session, terminal, tells }) {
      const standing = files.one(persona, id);
      if (standing === null) return null;
      const mark: Mark = { by, at: clock.now(), session: session === null ? null : sessionKey(session), terminal };
      putMark(persona, standing, mark, tells);
      return { ...standing, mark };
    },
    remove: (persona, id) => files.remove(persona, id),
    noteOpen(persona, id) {
      const standing = files.one(persona, id);
      if (standing?.isBuiltIn === true && !files.has(persona, id)) files.write(persona, standing);
    },
    clear: (persona, which) => clear(persona, ({ gate }) => which(gate)),
    async check(request) {
      const troubles: string[] = [];
      let verdict: Verdict;
      try {
        const { decision, reason, results, warnings, letGo, undecided } = await judged(request, troubles);
        verdict = { decision, reason, results, warnings, letGo, undecided };
      } catch (error) {
        const undecided = `the gates could not be checked: ${wordsOf(error)}`;
        troubles.push(undecided);
        verdict = { decision: 'allow', reason: '', results: [], warnings: [], letGo: null, undecided };
      }
      for (const trouble of troubles) disk.log.warn(trouble, { persona: request.persona });
      return { ...verdict, warnings: [...verdict.warnings, ...troubles] };
    },
    async status(asked) {
      const request = { ...asked, session: sessionKey(asked.session) };
      const all = files.read(request.persona).standings;
      const standings = standingNow(all, askedBy(request.persona));
      const now = clock.now();
      const checks = await askChecks(checksOf(standings, request, now), request, git);
      const plain = {
        stopHookActive: false,
        apiError: false,
        soft: false,
        also: '',
        call: null,
        turn: { blocks: [], open: [] },
      };
      return HOOKS.flatMap((hook) => {
        const { results } = evaluate({ ...request, ...plain, hook, standings, checks, now });
        return all.flatMap((standing) => {
          if (standing.gate.hook !== hook) return [];
          const counting = standings.find(({ gate }) => gate.id === standing.gate.id);
          const isSatisfied = !results.some((one) => one.gate_id === standing.gate.id && !one.satisfied);
          return [{ ...(counting ?? standing), isSatisfied, counts: counting !== undefined }];
        });
      });
    },
    beginTurn: (persona, session) => turnOf(persona, session).begin(),
    endSession(persona, session) {
      clear(persona, ({ gate, mark }) => gate.mode === 'soft' && mark?.session === sessionKey(session));
      turnOf(persona, session).remove();
    },
  };
}

const isDecision = ({ gate }: Standing): boolean => gate.id === DECISION;

/** The checks whose answer matters, each a cost: those of gates that nobody's word holds closed. */
function checksOf(here: readonly Standing[], asker: Asker, now: number): ReadonlySet<CheckName> {
  const asked = here.flatMap((standing) => {
    const { check } = standing.gate;
    if (check === null || check === 'decision-waiting') return [];
    return standing.mark?.by !== 'auto' && holds(standing, asker, now) ? [] : [check];
  });
  return new Set(asked);
}

const WORDS = {
  auto: 'its check passed',
  cli: 'it was marked',
  decision: 'the decision was answered',
  operator: 'the operator marked it',
} as const satisfies Record<Provenance, string>;

/** The key names the gate, and which resolving of it: the same gate resolves again, and so does another persona's. */
function resolved(persona: PersonaId, id: string, { by, at }: Mark): OwnItem {
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

function wordsOf(error: unknown): string {
  if (error instanceof Fault) return error.message;
  return error instanceof Error ? error.message : String(error);
}
