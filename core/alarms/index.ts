export {
  type ActivityQuestion,
  type ActivityReport,
  type ActivityVerdict,
  checkActivity,
  formatActivityReport,
  type HiveActivity,
  mergeEarlier,
  type PersonaActivity,
  parseActivityReport,
} from './activity.ts';
export { createHiveAlarms, type HiveAlarms, type HiveAlarmsOptions } from './hive-alarms.ts';
export type { AlarmRules } from './judge.ts';
