import type { Snapshot } from '../../core/board/index.ts';
import type { Instant } from '../../core/model/index.ts';
import { isOn } from './icon.ts';
import type { MenuEntry, Wanted } from './model.ts';
import type { TimeText } from './time-text.node.ts';

/** What concerns all personas, or the program itself. */
export function houseRows(snapshot: Snapshot, now: Instant, timeText: TimeText): MenuEntry[] {
  return [
    { is: 'command', key: 'page', label: 'Open status page', wanted: { name: 'page', params: {} } },
    { is: 'command', key: 'poll', label: 'Poll now', wanted: { name: 'poll', params: {} } },
    pauseOf(snapshot, now, timeText),
    quietHoursOf(snapshot, now, timeText),
    ...autostartOf(snapshot),
  ];
}

function pauseOf({ paused }: Snapshot, now: Instant, timeText: TimeText): MenuEntry {
  const isPaused = isOn(paused, now);
  const until = isPaused && paused.is === 'at' ? ` (until ${timeText(paused.at, now)})` : '';
  const command = (key: string, label: string, wanted: Wanted): MenuEntry => ({ is: 'command', key, label, wanted });
  const pause = (params: Wanted['params']): Wanted => ({ name: 'pause', params });
  const resume: Wanted = { name: 'resume', params: {} };
  return {
    is: 'submenu',
    key: 'pause',
    label: isPaused ? `Notifications paused${until}` : 'Pause notifications',
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
      label: `Pause notifications${until}`,
      checked: isPaused,
      wanted: isPaused ? resume : pause({}),
    },
  };
}

function quietHoursOf({ quietHours, quiet }: Snapshot, now: Instant, timeText: TimeText): MenuEntry {
  const until = quiet.is === 'at' && isOn(quiet, now) ? ` (until ${timeText(quiet.at, now)})` : '';
  return {
    is: 'check',
    key: 'quiet-hours',
    label: `Quiet hours${until}`,
    checked: quietHours,
    wanted: { name: 'quiet-hours', params: { on: !quietHours } },
  };
}

function autostartOf({ autostart }: Snapshot): MenuEntry[] {
  if (autostart === null) return [];
  const wanted = { name: 'autostart', params: { on: !autostart } };
  return [{ is: 'check', key: 'autostart', label: 'Start at login', checked: autostart, wanted }];
}
