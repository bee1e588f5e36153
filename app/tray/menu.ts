import { isPressing, type Snapshot } from '../../core/board/index.ts';
import type { Instant } from '../../core/model/index.ts';
import { isAtLeastOne } from './counts.ts';
import { buildDecisionRows } from './decision-rows.ts';
import { chooseIcon, isDown } from './icon.ts';
import type { MenuEntry, TimeFormatter, TrayModel } from './model.ts';
import { buildProgramRows } from './program-rows.ts';
import { buildPersonaRows } from './rows.ts';
import { formatIconCount, formatSummary } from './summary.ts';

/** Builds the whole tray from one snapshot, so that no part can be older than another. */
export function buildTrayModel(snapshot: Snapshot, now: Instant, timeText: TimeFormatter): TrayModel {
  return {
    icon: chooseIcon(snapshot, now),
    summary: formatSummary(snapshot, now),
    count: formatIconCount(snapshot),
    attention: isDown(snapshot) || isAtLeastOne(snapshot.totals.urgent) || snapshot.decisions.some(isPressing),
    menu: buildMenu(snapshot, now, timeText),
  };
}

function buildMenu(snapshot: Snapshot, now: Instant, timeText: TimeFormatter): MenuEntry[] {
  return [
    ...buildDecisionRows(snapshot),
    { is: 'text', key: 'summary', label: formatSummary(snapshot, now) },
    { is: 'separator', key: 'line-1' },
    ...buildPersonaRows(snapshot, now, timeText),
    { is: 'separator', key: 'line-2' },
    ...buildProgramRows(snapshot, now, timeText),
    { is: 'separator', key: 'line-3' },
    { is: 'command', key: 'quit', label: 'Quit', action: { name: 'quit', params: {} } },
  ];
}
