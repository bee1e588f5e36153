import type { CommandHost } from '../../core/sources/module.ts';
import { findOwnDirs } from '../../core/state/dirs.node.ts';
import { readVersion } from '../package.node.ts';
import { createLineOutput } from './nonblocking-io.node.ts';
import { createStderrLog, createStopSignal } from './process.node.ts';

const STDOUT = 1;

/** What the house gives to the commands of sources. The settings and what watches a reader are loaded when they are asked for. */
export const COMMAND_HOST: CommandHost = {
  version: readVersion(),
  createLog: createStderrLog,
  createStopSignal,
  async openOutput() {
    const { isReaderGone } = await import('../follow/index.ts');
    return { ...createLineOutput(), isReaderGone: () => isReaderGone(STDOUT) };
  },
  async readSettings(env) {
    const { openSettings } = await import('../config/tray/index.ts');
    return openSettings(findOwnDirs({ ...env }).config).settings;
  },
};
