import { defineCommand } from '../../core/command/index.ts';
import { findTray, stopTray } from './running-tray.node.ts';

export const command = defineCommand(
  {
    name: 'stop',
    about: [
      'Ends the tray program and waits until it is gone. A service that runs it',
      'is stopped, and starts it again at the next login.',
    ],
    notes: ['Exit code 0 also when it did not run.'],
    examples: [{ run: 'hivebar stop', does: 'end it' }],
  },
  async (_values, io) => {
    const tray = await findTray(io.env);
    if (tray === null) {
      io.out('hivebar is not running\n');
      return 0;
    }
    await stopTray(tray, io.env);
    const pid = tray.instance === null ? '' : ` (pid ${tray.instance.pid})`;
    const service = tray.supervisor === null ? '' : `: ${tray.supervisor.name} starts it again at the next login`;
    io.out(`hivebar has stopped${pid}${service}\n`);
    return 0;
  },
);
