export {
  type ActivityReport,
  formatActivityReport,
  type HiveActivity,
  mergeEarlier,
  type PersonaActivity,
  parseActivityReport,
} from './activity-report.ts';
export type { AlarmRules } from './alarm-state.ts';
export { type ActivityQuestion, type ActivityVerdict, checkActivity } from './check-activity.ts';
export { createHiveAlarms, type HiveAlarms, type HiveAlarmsOptions } from './hive-alarms.ts';
