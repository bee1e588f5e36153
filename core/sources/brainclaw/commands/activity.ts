import { displayName } from '../../../format/index.ts';
import { findRemarks, MOST_ACTIVITY } from '../index.ts';
import { type BrainclawArgs, parseWholeNumber } from './args.ts';
import {
  type BrainclawContext,
  formatTable,
  loadView,
  NOT_KNOWN,
  printJson,
  printRemarks,
} from './brainclaw-context.ts';

const LIMIT = 20;

/** Prints the last records that changed no item, such as sessions, progress and journal notes; the newest is last. */
export function showActivity(options: BrainclawArgs, context: BrainclawContext): number {
  const limit = Math.min(parseWholeNumber(options.flags, 'limit', 1) ?? LIMIT, MOST_ACTIVITY);
  const view = loadView(context, options);
  if (view === null) return NOT_KNOWN;
  const activity = view.replay.projection.activity.slice(-limit);
  if (context.asJson) {
    printJson(context, { activity, remarks: findRemarks(view) });
    return 0;
  }
  const rows = activity.map(({ seq, ts, agent, action, item_type, item_id, summary }) =>
    [`${seq}`, ts ?? '-', agent, action, item_id ?? item_type, summary ?? ''].map(displayName),
  );
  context.io.out(rows.length === 0 ? 'no activity\n' : formatTable(rows));
  printRemarks(context, view);
  return 0;
}
