export { DEFAULT_HIVE, WATCH_FLAGS } from './watch-flags.ts';
export { parseWatch, type WatchParseResult, type WatchPlan } from './watch-plan.ts';
