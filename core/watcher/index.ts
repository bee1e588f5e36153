export { createInitialState } from './initial-state.ts';
export {
  detectInterruptions,
  INTERRUPTION_RULES,
  type Interruption,
  type InterruptionDetector,
  type InterruptionRules,
} from './interruption.ts';
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
