export { type ActivityReport, activityOf, activityText } from './activity.ts';
export { checkActivity, type Question, type Verdict } from './check-activity.ts';
export { createHiveAlarms, type HiveAlarms, type HiveAlarmsOptions } from './hive-alarms.ts';
export type { AlarmRules } from './state.ts';
