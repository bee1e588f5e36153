import { join } from 'node:path';
import { defineCommand } from '../../core/command/index.ts';
import { createRealDisk, findOwnDirs } from '../../core/state/index.ts';
import { LOG_FILE } from '../host/log-file.ts';
import { LOG_FLAGS } from './log-flags.ts';
import { printLog, readLog } from './log-lines.ts';
import { createStderrLog, createStopSignal } from './process.node.ts';

export const command = defineCommand(
  {
    name: 'logs',
    about: ['Prints what the tray program logged, whichever way it was started. It need not', 'run for that.'],
    flags: LOG_FLAGS,
    examples: [
      { run: 'hivebar logs -f', does: 'the last 50 lines, then new ones' },
      { run: 'hivebar logs --lines 500 | grep warn', does: 'look for warnings' },
    ],
  },
  async ({ follow, lines, json }, io) => {
    const path = join(findOwnDirs({ ...io.env }).state, LOG_FILE);
    const disk = createRealDisk(createStderrLog(io, 'hivebar logs'));
    if (disk.files.lstat(path) === null && !follow) {
      io.err(`hivebar logs: there is no ${path} yet: hivebar has not run here\n`);
      return 1;
    }
    const stop = createStopSignal();
    await printLog(readLog(disk, path, { most: lines, follow, stop }), json, stop);
    return 0;
  },
);
