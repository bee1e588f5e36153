import type { NativeSession } from '../../core/sources/module.ts';
import type { Session } from '../open/index.ts';

/** Stands for no process, since no process has this number. */
const NO_PROCESS = { pid: 2 ** 30, startKey: 'none' };

/** Converts a session that another system keeps to the form of an announced one. */
export function toSession({ persona, id, cwd, resume }: NativeSession): Session {
  return { persona, id, cwd, resume, pane: null, runner: NO_PROCESS, announcedAt: 0, endedAt: 0 };
}
