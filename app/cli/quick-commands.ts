import type { CommandEntry } from '../../core/command/index.ts';
import * as poll from './poll.ts';
import * as status from './status.ts';
import * as statusline from './statusline.ts';

/** These commands are loaded together with their table, because every file less saves a millisecond. */
export const QUICK_COMMANDS: Readonly<Record<QuickName, CommandEntry>> = {
  status: {
    summary: 'show the state and the unread mail of every persona',
    group: 'watch',
    needs: 'tray',
    load: async () => status,
  },
  poll: {
    summary: 'poll the inboxes now, without waiting for the next interval',
    group: 'watch',
    needs: 'tray',
    load: async () => poll,
  },
  statusline: {
    summary: 'print one line for the status line of Claude Code',
    group: 'watch',
    needs: 'tray',
    load: async () => statusline,
  },
};

/** The commands that only ask the running program. Their start is measured against a Node that does nothing. */
const QUICK_NAMES = ['status', 'poll', 'statusline'] as const;

type QuickName = (typeof QUICK_NAMES)[number];

/** Shells call it for names while a person types. It is as quick, and no list of commands shows it. */
export const COMPLETE = '__complete';

export function isQuick([first]: readonly string[]): boolean {
  return first === COMPLETE || QUICK_NAMES.some((name) => name === first);
}
