import type { Snapshot } from '../../core/board/index.ts';
import { formatSilence } from '../../core/format/index.ts';
import type { Instant } from '../../core/model/index.ts';
import { isOn } from './icon.ts';
import type { MenuAction, MenuEntry, TimeFormatter } from './model.ts';

/** Builds the rows that concern all personas or the program itself. */
export function buildProgramRows(snapshot: Snapshot, now: Instant, timeText: TimeFormatter): MenuEntry[] {
  return [
    { is: 'command', key: 'page', label: 'Open status page', action: { name: 'page', params: {} } },
    { is: 'command', key: 'poll', label: 'Poll now', action: { name: 'poll', params: {} } },
    buildPauseRow(snapshot, now, timeText),
    buildQuietHoursRow(snapshot, now, timeText),
    ...buildAutostartRows(snapshot),
  ];
}

function buildPauseRow({ paused }: Snapshot, now: Instant, timeText: TimeFormatter): MenuEntry {
  const isPaused = isOn(paused, now);
  const end = isPaused && paused.is === 'at' ? paused.at : null;
  const command = (key: string, label: string, action: MenuAction): MenuEntry => ({
    is: 'command',
    key,
    label,
    action,
  });
  const pause = (params: MenuAction['params']): MenuAction => ({ name: 'pause', params });
  const resume: MenuAction = { name: 'resume', params: {} };
  return {
    is: 'submenu',
    key: 'pause',
    label: isPaused ? formatSilence('Notifications paused', end, now, timeText) : 'Pause notifications',
    entries: [
      ...(isPaused ? [command('resume', 'Resume', resume), { is: 'separator', key: 'resume-line' } as const] : []),
      command('pause-half-hour', 'For 30 minutes', pause({ minutes: 30 })),
      command('pause-hour', 'For 1 hour', pause({ minutes: 60 })),
      command('pause-day', 'Until tomorrow', pause({ until: 'tomorrow' })),
      command('pause-open', 'Until resumed', pause({})),
    ],
    instead: {
      is: 'check',
      key: 'pause',
      label: formatSilence('Pause notifications', end, now, timeText),
      checked: isPaused,
      action: isPaused ? resume : pause({}),
    },
  };
}

function buildQuietHoursRow({ quietHours, quiet }: Snapshot, now: Instant, timeText: TimeFormatter): MenuEntry {
  const end = quiet.is === 'at' && isOn(quiet, now) ? quiet.at : null;
  return {
    is: 'check',
    key: 'quiet-hours',
    label: formatSilence('Quiet hours', end, now, timeText),
    checked: quietHours,
    action: { name: 'quiet-hours', params: { on: !quietHours } },
  };
}

function buildAutostartRows({ autostart }: Snapshot): MenuEntry[] {
  if (autostart === null) return [];
  const action = { name: 'autostart', params: { on: !autostart } };
  return [{ is: 'check', key: 'autostart', label: 'Start at login', checked: autostart, action }];
}
