import type { CommandEntry } from '../../core/command/index.ts';
import * as poll from './poll.ts';
import type { QuickName } from './quick-names.ts';
import * as status from './status.ts';

/** These commands are loaded together with their table, because every file less saves a millisecond. */
export const QUICK_COMMANDS: Readonly<Record<QuickName, CommandEntry>> = {
  status: {
    summary: 'show the state and the unread mail of every persona',
    needs: 'tray',
    load: async () => status,
  },
  poll: {
    summary: 'poll the inboxes now, without waiting for the next interval',
    needs: 'tray',
    load: async () => poll,
  },
};
