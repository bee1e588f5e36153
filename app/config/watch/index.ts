export type { WatchPlan } from './plan.ts';
export { DEFAULT_HIVE, WATCH_FLAGS } from './watch-flags.ts';
export { parseWatch, type WatchParseResult } from './watch-plan.ts';
