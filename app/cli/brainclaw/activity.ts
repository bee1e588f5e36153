import { MOST_ACTIVITY, remarksOn } from '../../../core/sources/brainclaw/index.ts';
import { printable } from '../../printable.ts';
import { type BrainclawArgs, wholeOf } from './args.ts';
import { aligned, type Ground, NOT_KNOWN, sayJson, sayRemarks, viewOf } from './ground.ts';

const LIMIT = 20;

/** The last records that changed no item: sessions, progress, notes of the journal. The newest comes last. */
export function showActivity(asked: BrainclawArgs, ground: Ground): number {
  const limit = Math.min(wholeOf(asked.flags, 'limit', 1) ?? LIMIT, MOST_ACTIVITY);
  const view = viewOf(ground, asked);
  if (view === null) return NOT_KNOWN;
  const activity = view.replay.projection.activity.slice(-limit);
  if (ground.asJson) {
    sayJson(ground, { activity, remarks: remarksOn(view) });
    return 0;
  }
  const rows = activity.map(({ seq, ts, agent, action, item_type, item_id, summary }) =>
    [`${seq}`, ts ?? '-', agent, action, item_id ?? item_type, summary ?? ''].map(printable),
  );
  ground.io.out(rows.length === 0 ? 'no activity\n' : aligned(rows));
  sayRemarks(ground, view);
  return 0;
}
