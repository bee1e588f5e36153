export {
  type Activity,
  type ActivityReport,
  activityOf,
  activityText,
  type Observed,
  withEarlier,
} from './activity.ts';
export { checkActivity, type Question, type Verdict } from './check-activity.ts';
export { createHiveAlarms, type HiveAlarms, type HiveAlarmsOptions } from './hive-alarms.ts';
export type { AlarmRules } from './state.ts';
