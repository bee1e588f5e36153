export { DEFAULT_HIVE, parseWatch, WATCH_FLAGS, type WatchParseResult, type WatchPlan } from './watch-plan.ts';
