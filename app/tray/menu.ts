import type { Snapshot } from '../../core/board/index.ts';
import type { Instant } from '../../core/model/index.ts';
import { atLeastOne, numberOf } from './counts.ts';
import { houseRows } from './house-rows.ts';
import { iconOf, isDown } from './icon.ts';
import type { MenuEntry, TrayModel } from './model.ts';
import { rowsOf } from './rows.ts';
import { summaryOf } from './summary.ts';
import type { TimeText } from './time-text.node.ts';

/** The whole tray for one picture of the board. Every part comes from it, so no part can lag behind another. */
export function trayModel(snapshot: Snapshot, now: Instant, timeText: TimeText): TrayModel {
  const { unread, urgent } = snapshot.totals;
  return {
    icon: iconOf(snapshot, now),
    summary: summaryOf(snapshot, now),
    count: atLeastOne(unread) ? numberOf(unread) : '',
    attention: isDown(snapshot) || atLeastOne(urgent),
    menu: menuOf(snapshot, now, timeText),
  };
}

function menuOf(snapshot: Snapshot, now: Instant, timeText: TimeText): MenuEntry[] {
  return [
    { is: 'text', key: 'summary', label: summaryOf(snapshot, now) },
    { is: 'separator', key: 'line-1' },
    ...rowsOf(snapshot, now, timeText),
    { is: 'separator', key: 'line-2' },
    ...houseRows(snapshot, now, timeText),
    { is: 'separator', key: 'line-3' },
    { is: 'command', key: 'quit', label: 'Quit', wanted: { name: 'quit', params: {} } },
  ];
}
