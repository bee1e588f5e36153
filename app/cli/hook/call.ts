import type { Io } from '../../../core/command/index.ts';
import type { HookTurn } from '../../../core/hooks/index.ts';
import type { Log } from '../../../core/ports/index.ts';
import type { Database } from '../../../core/state/index.ts';
import type { HookArgs } from './args.ts';
import type { TimeBudget } from './budget.ts';

/** How far a call has come. Once the gates have decided, a later error holds no agent. */
export interface Progress {
  isDecided: boolean;
}

/** One call of a hook, with everything that it works on. */
export interface HookCall {
  readonly options: HookArgs;
  readonly io: Io;
  readonly log: Log;
  readonly turn: HookTurn;
  readonly persona: string;
  readonly db: Database;
  readonly state: string;
  readonly run: string;
  readonly config: string;
  readonly budget: TimeBudget;
  readonly progress: Progress;
}
