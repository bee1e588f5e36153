import { defineCommand } from '../../core/command/index.ts';
import { findSupervisor, findTray, startTray, stopTray } from './running-tray.node.ts';

export const command = defineCommand(
  {
    name: 'restart',
    about: [
      'Ends the tray program and starts it again as it ran before: by its service,',
      'else in the background, with the same flags and environment. Starts it when',
      'it did not run.',
    ],
    examples: [{ run: 'hivebar restart', does: 'run the installed version, after an update' }],
  },
  async (_values, io) => {
    const tray = await findTray(io.env);
    if (tray !== null) await stopTray(tray, io.env);
    const start =
      tray === null
        ? { supervisor: await findSupervisor(io.env), args: [], env: io.env }
        : { supervisor: tray.supervisor, args: tray.instance?.args ?? [], env: tray.env ?? io.env };
    const { pid, port } = await startTray(start, io.env);
    const how = start.supervisor === null ? 'in the background' : `by ${start.supervisor.name}`;
    io.out(`hivebar runs ${how}: http://127.0.0.1:${port} (pid ${pid})\n`);
    return 0;
  },
);
