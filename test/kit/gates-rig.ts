import {
  BUILT_INS,
  type CheckAnswer,
  type CheckRequest,
  type Gate,
  type Gates,
  type GateVerdict,
  type GitCheck,
  type MarkProvenance,
  openGates,
  type UnansweredDecision,
} from '../../core/inbox/gates/index.ts';
import type { OwnItem } from '../../core/inbox/index.ts';
import { realRandom, silentLog } from '../../core/ports/index.ts';
import { createRealDisk } from '../../core/state/index.ts';
import { type FakeClock, fakeClock } from './fake-clock.ts';
import type { Scratch } from './scratch.ts';

/** The gates of a directory on a clock that stands still; what they ask for and what they push is the test's. */
export interface Rig {
  readonly space: Scratch;
  readonly gates: Gates;
  readonly clock: FakeClock;
  readonly pushed: OwnItem[];
  /** What git is to say. */
  git: CheckAnswer;
  /** What each persona asked and nobody answered: one question, unless a test says otherwise. */
  asked: readonly UnansweredDecision[];
  /** The file of a gate of a persona. */
  file(id: string, persona?: string): string;
}

export const ONE_QUESTION: readonly UnansweredDecision[] = [{ id: 7, prompt: 'Which way?' }];

/** The gate `decision` as contract 4 has it for everybody. */
export const DECISION_GATE = BUILT_INS.find(({ id }) => id === 'decision') as Gate;

export function rig(space: Scratch): Rig {
  const clock = fakeClock();
  const pushed: OwnItem[] = [];
  const pushOwn = (item: OwnItem) => {
    pushed.push(item);
    return { id: pushed.length, dedupKey: item.key, isNew: true };
  };
  const git: GitCheck = async () => made.git;
  const asked = () => made.asked;
  const needs = {
    disk: createRealDisk(silentLog),
    random: realRandom,
    clock,
    state: space.dir,
    git,
    findOpenDecisions: asked,
  };
  const made: Rig = {
    space,
    clock,
    pushed,
    git: { is: 'clear' },
    asked: ONE_QUESTION,
    gates: openGates({ ...needs, items: () => ({ pushOwn }) }),
    file: (id, persona = 'ada') => space.at('gates', persona, `${id}.json`),
  };
  return made;
}

export function check(
  { gates, space }: Pick<Rig, 'gates' | 'space'>,
  given: Partial<CheckRequest> = {},
): Promise<GateVerdict> {
  const flags = { stopHookActive: false, apiError: false, soft: false, also: '', call: null, by: 'command' } as const;
  const caller = { persona: 'ada', session: 's1', terminal: null, hook: 'Stop' } as const;
  return gates.check({ ...caller, ...flags, cwd: space.dir, env: {}, ...given });
}

export function gate(id: string, given: Partial<Gate> = {}): Gate {
  const plain = { hook: 'Stop', mode: 'strict', hint: null, check: null, matcher: null, ttlSeconds: null } as const;
  return { id, description: `${id} is open`, ...plain, ...given };
}

export function mark(
  { gates }: Rig,
  id: string,
  by: MarkProvenance = 'operator',
  session: string | null = 's1',
  persona = 'ada',
) {
  return gates.mark(persona, id, { by, session, terminal: null, tells: true });
}

/** The first lines of a program that runs on its own and has the gates in the directory that is its first argument. */
export const GATES_OF_ARGUMENT = `
  import { openGates } from ${JSON.stringify(import.meta.resolve('../../core/inbox/gates/index.ts'))};
  import { realClock, realRandom, silentLog } from ${JSON.stringify(import.meta.resolve('../../core/ports/index.ts'))};
  import { createRealDisk } from ${JSON.stringify(import.meta.resolve('../../core/state/index.ts'))};
  const needs = { disk: createRealDisk(silentLog), random: realRandom, clock: realClock, items: null };
  const gates = openGates({ ...needs, state: process.argv[1], git: async () => ({ is: 'clear' }), findOpenDecisions: () => ${JSON.stringify(ONE_QUESTION)} });`;

export const failing = (verdict: GateVerdict): readonly string[] =>
  verdict.results.filter((result) => !result.satisfied).map((result) => result.gate_id);
