import { formatList } from '../../../core/format/index.ts';
import type { StatusWire } from '../../status/index.ts';
import { type Finding, ok, skipped, warn } from './finding.ts';

/** Judges what a person switched off and may have forgotten. */
export function judgeSilence(status: StatusWire | null): Finding {
  if (status === null) return skipped('Hivebar is not running');
  const { pausedUntil, quietUntil } = status.notifications;
  if (pausedUntil !== null)
    return warn(
      `notifications are paused ${formatUntil(pausedUntil)}`,
      'choose Resume notifications in the menu of the icon or on the page',
    );
  if (quietUntil !== null)
    return warn(
      `it is quiet hours ${formatUntil(quietUntil)}`,
      'switch them off in the menu, or change the setting quietHours',
    );
  const muted = status.personas.filter((persona) => persona.muted !== null).map(({ id }) => id);
  const hidden = status.personas.filter((persona) => persona.hidden).map(({ id }) => id);
  if (muted.length === 0 && hidden.length === 0) return ok('nothing is paused, muted or hidden');
  const parts = [
    ...(muted.length === 0 ? [] : [`muted: ${formatNames(muted)}`]),
    ...(hidden.length === 0 ? [] : [`hidden: ${formatNames(hidden)}`]),
  ];
  return warn(parts.join('; '), 'if that is not what you want: hivebar unmute PERSONA, hivebar unhide PERSONA');
}

/** Judges what the running program itself reports as wrong. */
export function judgeOutages(status: StatusWire | null): Finding {
  if (status === null) return skipped('Hivebar is not running');
  const [first, ...rest] = status.causes;
  if (first !== undefined) {
    const remainder = rest.length === 0 ? '' : ` (and ${rest.length} more)`;
    return warn(`${first.message}${remainder}`, 'see all of them: hivebar status');
  }
  const { up, personas } = status.totals;
  return ok(`${up} of ${personas} inboxes are up`);
}

const formatUntil = (time: string): string => (time === 'forever' ? 'until you resume them' : `until ${time}`);

const MOST_NAMED = 5;

function formatNames(names: readonly string[]): string {
  return formatList(names, MOST_NAMED);
}
