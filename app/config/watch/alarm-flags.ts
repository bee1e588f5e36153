import type { WatcherRules } from '../../../core/watch/index.ts';
import type { WatchPlan } from './plan.ts';
import { parseTextFlag, UsageError } from './usage-error.ts';

/** The values that commander returns for the flags of alarms and activity. */
export interface AlarmFlags {
  delivery: WatcherRules['delivery'];
  gapAlerts: boolean;
  evidenceAlerts: boolean;
  unreadAlerts: boolean;
  strandedAlerts: boolean;
  urgentAlerts: boolean;
  activityFile?: string;
  checkActivity?: string;
  sinceId?: number;
  waits?: number;
}

export function parseSilencedAlerts(flags: AlarmFlags, warnings: string[]): WatchPlan['silenced'] {
  const silenced = new Set<'gap' | 'evidence-lost' | 'unread-not-shown'>();
  if (!flags.gapAlerts) silenced.add('gap');
  if (!flags.evidenceAlerts) silenced.add('evidence-lost');
  if (!flags.unreadAlerts) silenced.add('unread-not-shown');
  if (silenced.size > 0 && flags.delivery === 'at-most-once')
    warnings.push(
      '--no-gap-alerts, --no-evidence-alerts and --no-unread-alerts are ignored without --delivery at-least-once',
    );
  return silenced;
}

export function parseHiveAlarms(
  { strandedAlerts: stranded, urgentAlerts: urgent, delivery }: AlarmFlags,
  isAll: boolean,
  warnings: string[],
): WatchPlan['hiveAlarms'] {
  if ((!stranded || !urgent) && (delivery === 'at-most-once' || !isAll))
    warnings.push(
      '--no-stranded-alerts and --no-urgent-alerts are ignored without --delivery at-least-once and every persona watched',
    );
  return { stranded, urgent };
}

/** @throws UsageError */
export function parseActivityFlags(flags: AlarmFlags): Pick<WatchPlan, 'activityFile' | 'checkActivity'> {
  const activityFile = parseTextFlag('--activity-file', flags.activityFile);
  const { sinceId, waits = null } = flags;
  const persona = parseTextFlag('--check-activity', flags.checkActivity);
  if (persona === null) {
    if (sinceId !== undefined || waits !== null)
      throw new UsageError('--since-id and --waits: they say what --check-activity asks');
    if (activityFile !== null && flags.delivery === 'at-most-once')
      throw new UsageError('--activity-file: needs --delivery at-least-once, else what a sink refuses is not seen');
    return { activityFile, checkActivity: null };
  }
  if (activityFile === null || sinceId === undefined)
    throw new UsageError(`--check-activity ${persona}: needs --activity-file PATH and --since-id ID`);
  return { activityFile, checkActivity: { persona, sinceId, waits } };
}
