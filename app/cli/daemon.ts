import { type Command, formatExpected, type Io, toUsageFault } from '../../core/command/index.ts';
import { DAEMON_SCHEMA, type DaemonVerb } from './daemon/schema.ts';

/** The file of each verb, which is loaded when it runs. */
const LOADS: Readonly<Record<DaemonVerb, () => Promise<{ run(args: readonly string[], io: Io): Promise<number> }>>> = {
  run: () => import('./daemon/run.ts'),
  install: () => import('./daemon/install.ts'),
  uninstall: async () => (await import('./daemon/retire.ts')).uninstall,
  list: () => import('./daemon/list.ts'),
  wrap: async () => (await import('./daemon/retire.ts')).wrap,
  archive: async () => (await import('./daemon/retire.ts')).archive,
  destroy: async () => (await import('./daemon/retire.ts')).destroy,
  status: async () => ({ run: (await import('./daemon/simple-requests.ts')).runStatus }),
  logs: () => import('./daemon/logs.ts'),
  notify: async () => ({ run: (await import('./daemon/simple-requests.ts')).runNotify }),
  resume: async () => ({ run: (await import('./daemon/simple-requests.ts')).runResume }),
  shutdown: async () => ({ run: (await import('./daemon/simple-requests.ts')).runShutdown }),
  drain: () => import('./daemon/drain.ts'),
  shim: () => import('./daemon/shim.ts'),
};

export const command: Command = {
  schema: DAEMON_SCHEMA,
  async run([word = '', ...args], io) {
    const verb = (Object.keys(LOADS) as DaemonVerb[]).find((name) => name === word);
    if (verb === undefined) throw toUsageFault(new Error(formatExpected(Object.keys(LOADS), word || undefined)));
    return await (await LOADS[verb]()).run(args, io);
  },
};
