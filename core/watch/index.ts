export { createRounds, type Rounds, type RoundsOptions } from './rounds.ts';
export { type Rules, type Saved, type Start, savedOf, type WatchState } from './state.ts';
export { openWatch, step } from './step.ts';
export { createWatcher, type LookOutcome, type Saver, type Watcher } from './watcher.ts';
