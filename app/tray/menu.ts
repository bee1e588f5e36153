import { isPressing, type Snapshot } from '../../core/board/index.ts';
import type { Instant } from '../../core/model/index.ts';
import { atLeastOne } from './counts.ts';
import { decisionRows } from './decision-rows.ts';
import { houseRows } from './house-rows.ts';
import { iconOf, isDown } from './icon.ts';
import type { MenuEntry, TrayModel } from './model.ts';
import { rowsOf } from './rows.ts';
import { countOf, summaryOf } from './summary.ts';
import type { TimeText } from './time-text.node.ts';

/** The whole tray for one picture of the board. Every part comes from it, so no part can lag behind another. */
export function trayModel(snapshot: Snapshot, now: Instant, timeText: TimeText): TrayModel {
  return {
    icon: iconOf(snapshot, now),
    summary: summaryOf(snapshot, now),
    count: countOf(snapshot),
    attention: isDown(snapshot) || atLeastOne(snapshot.totals.urgent) || snapshot.decisions.some(isPressing),
    menu: menuOf(snapshot, now, timeText),
  };
}

function menuOf(snapshot: Snapshot, now: Instant, timeText: TimeText): MenuEntry[] {
  return [
    ...decisionRows(snapshot),
    { is: 'text', key: 'summary', label: summaryOf(snapshot, now) },
    { is: 'separator', key: 'line-1' },
    ...rowsOf(snapshot, now, timeText),
    { is: 'separator', key: 'line-2' },
    ...houseRows(snapshot, now, timeText),
    { is: 'separator', key: 'line-3' },
    { is: 'command', key: 'quit', label: 'Quit', wanted: { name: 'quit', params: {} } },
  ];
}
