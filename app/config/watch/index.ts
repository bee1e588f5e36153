export type { WatchPlan } from './plan.ts';
export { DEFAULT_HIVE, formatWatchHelp, parseWatch, type WatchParseResult } from './watch-plan.ts';
