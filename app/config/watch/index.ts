export { DEFAULT_HIVE, type Parsed, parseWatch, type WatchPlan, watchHelp } from './watch-plan.ts';
