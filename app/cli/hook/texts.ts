import type { GateSummary, HookEvent } from '../../../core/hooks/index.ts';
import { formatPendingCommand, toHarmlessName } from '../../../core/inbox/drain/index.ts';
import { MOST_COUNTED } from '../../../core/inbox/index.ts';

const MAX_NAME = 40;
/** Gates may say so much beside a frame. */
const MAX_GATES = 3000;

/** That something waits, without any of it. */
export function formatBell(name: string, pending: readonly number[], events: number): string {
  const whose = toHarmlessName(name, MAX_NAME);
  const items = pending.reduce((sum, count) => sum + count, 0);
  const urgent = (pending[0] ?? 0) + (pending[1] ?? 0);
  const parts = [
    ...(items === 0 ? [] : [`${formatItemCount(items)} (${urgent} urgent): ${formatPendingCommand(name)}`]),
    ...(events === 0 ? [] : [`${formatItemCount(events)} in the inbox of its own system`]),
  ];
  return `hivebar: for "${whose}" there wait ${parts.join('; ')}`;
}

const HELD: Readonly<Partial<Record<HookEvent, string>>> = {
  UserPromptSubmit: 'This prompt',
  PreToolUse: 'This tool call',
  PreCompact: 'This compaction',
};

/** Why something does not happen yet; it stands behind words of the harness such as "Stop hook error:". */
export function formatHold({ lacks, warnings }: GateSummary, event: HookEvent): string {
  const soft = warnings.length === 0 ? '' : `\nAlso: ${warnings.join('; ')}`;
  return clipText(`${HELD[event] ?? 'This stop'} is held by Hivebar: ${lacks ?? ''}${soft}`, MAX_GATES);
}

/** What soft gates would like, for the person. */
export function formatNote({ warnings }: GateSummary): string | null {
  return warnings.length === 0 ? null : clipText(`hivebar: ${warnings.join('; ')}`, MAX_GATES);
}

export const BEFORE_STOP = 'Before you stop, see to what came in.';

/** So many items, for a reader. */
export const formatItemCount = (count: number): string =>
  count === 1 ? '1 item' : `${count}${count >= MOST_COUNTED ? ' or more' : ''} items`;

/** In whole code points. */
function clipText(text: string, most: number): string {
  return text.length <= most ? text : `${[...text.slice(0, most)].slice(0, -1).join('')} [cut]`;
}
