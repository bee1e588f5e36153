import type { GateSummary, HookEvent } from '../../../core/hooks/index.ts';
import { formatPendingCommand, toHarmlessName } from '../../../core/inbox/drain/index.ts';
import { MOST_COUNTED } from '../../../core/inbox/index.ts';

const MAX_NAME = 40;
/** The most characters that gates may add beside a frame. */
const MAX_GATES = 3000;

/** Says that something waits, without any of its text. */
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

/** Formats why something does not happen yet. The harness puts words such as "Stop hook error:" before it. */
export function formatHold({ lacks, warnings }: GateSummary, event: HookEvent): string {
  const soft = warnings.length === 0 ? '' : `\nAlso: ${warnings.join('; ')}`;
  return clipText(`${HELD[event] ?? 'This stop'} is held by Hivebar: ${lacks ?? ''}${soft}`, MAX_GATES);
}

/** Formats the warnings of soft gates for the person. */
export function formatNote({ warnings }: GateSummary): string | null {
  return warnings.length === 0 ? null : clipText(`hivebar: ${warnings.join('; ')}`, MAX_GATES);
}

export const BEFORE_STOP = 'Before you stop, see to what came in.';

/** Formats a count of items for a reader. */
export const formatItemCount = (count: number): string =>
  count === 1 ? '1 item' : `${count}${count >= MOST_COUNTED ? ' or more' : ''} items`;

/** Cuts in whole code points. */
function clipText(text: string, most: number): string {
  return text.length <= most ? text : `${[...text.slice(0, most)].slice(0, -1).join('')} [cut]`;
}
