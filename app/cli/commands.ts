import type { CommandEntry } from './command.ts';

/** Every command by its name, in the order help shows them. A file is loaded when its command runs. */
export const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  status: {
    summary: 'show the state and the unread mail of every persona',
    needs: 'tray',
    load: () => import('./status.ts'),
  },
  poll: {
    summary: 'look into the inboxes now, without waiting for the next tick',
    needs: 'tray',
    load: () => import('./poll.ts'),
  },
};

/** What runs when no command is named: `hivebar` and `hivebar --port 7475`. */
export const DEFAULT_COMMAND = 'run';
