export { createInitialState } from './initial-state.ts';
export type { Interruption } from './interruption.ts';
export {
  detectInterruptions,
  INTERRUPTION_RULES,
  type InterruptionDetector,
  type InterruptionRules,
} from './interruption-detector.ts';
export { createScheduler, type Scheduler, type SchedulerOptions } from './scheduler.ts';
export { step } from './step.ts';
export { createWatcher, type PollOutcome, type Saver, type Watcher } from './watcher.ts';
export {
  type SavedState,
  toSavedState,
  type WatcherRules,
  type WatcherStart,
  type WatcherState,
} from './watcher-state.ts';
