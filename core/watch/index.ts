export type { Gap } from './gap.ts';
export { openWatch } from './open.ts';
export { createRounds, type Rounds, type RoundsOptions } from './rounds.ts';
export { type Rules, type Saved, type Start, savedOf, type WatchState } from './state.ts';
export { step } from './step.ts';
export { GAP_RULES, type GapRules, type Wakefulness, watchGaps } from './wakefulness.ts';
export { createWatcher, type LookOutcome, type Saver, type Watcher } from './watcher.ts';
