import { defineCommand, type Io, toUsageFault } from '../../core/command/index.ts';
import { formatDuration } from '../../core/format/index.ts';
import { toFault } from '../../core/model/index.ts';
import { findOwnDirs } from '../../core/state/index.ts';
import { createRealMachine, limitHeap } from '../host/machine.node.ts';
import { closeUninvitedInspector } from '../host/poke-signal.node.ts';
import { createFileLog, createRunLog } from '../host/run-log.node.ts';
import { runTray, type TrayPlan } from '../program/tray.ts';
import { isTerminal } from './process.node.ts';
import { askTray } from './tray-request.node.ts';

/** Another hivebar is already running. */
const EXIT_ALREADY_RUNNING = 3;

export const command = defineCommand(
  {
    name: 'run',
    isDefault: true,
    about: [
      'Watches every inbox, shows the tray icon and notifications, serves the status page, and writes an event file per persona.',
    ],
    flags: {
      port: {
        type: 'string',
        value: 'N',
        help: 'port of the status page (default 7475, or HIVEBAR_PORT; 0: any free port)',
        parse: parsePort,
      },
      open: { type: 'boolean', help: 'open the status page, also if hivebar is already running' },
      'no-tray': { type: 'boolean', help: 'show no tray icon' },
      'tray-driver': {
        type: 'choice',
        choices: ['sni', 'systray2', 'none'],
        help: 'how to show the icon, or none (default: chosen for the desktop)',
      },
      'no-notifications': { type: 'boolean', help: 'show no notifications' },
    },
    notes: ['HIVEBAR_HOME is the directory for everything it stores: state, run files, settings.'],
    examples: [
      { run: 'hivebar', does: 'run it' },
      {
        run: 'HIVEBAR_HOME=/tmp/try hivebar --port 0',
        does: 'try a second instance that shares nothing with the first',
      },
    ],
  },
  async (flags, io) => {
    const plan = toPlan(flags, io);
    const { open } = plan;
    const dirs = findOwnDirs({ ...io.env });
    const log = createRunLog(dirs.state);
    limitHeap({ storms: true });
    const machine = createRealMachine(log);
    if (await closeUninvitedInspector()) log.warn('closed an inspector that a SIGUSR1 during the start had opened');
    const end = await runTray(plan, dirs, machine, async () => {
      const { openMcpHttp } = await import('./mcp/index.ts');
      return await openMcpHttp(io, log);
    }).catch((error: unknown) => {
      // A start without a terminal has no other place where the reason is found.
      createFileLog(dirs.state).error(toFault(error, { is: 'machine', key: 'run' }).explain());
      throw error;
    });
    if (end.is === 'stopped') return 0;
    const instance = end.by === null ? '' : ` (port ${end.by.port ?? 'not known yet'}, pid ${end.by.pid})`;
    if (open) {
      const response = await askTray({ method: 'POST', path: '/api/v1/actions/page', body: '{}' }, io.env);
      if (response.is === 'answered' && response.status < 300) {
        io.out(`hivebar is running already${instance}; its page is open\n`);
        return 0;
      }
    }
    io.err(`hivebar is running already${instance}: stop it first, or give another HIVEBAR_HOME\n`);
    return EXIT_ALREADY_RUNNING;
  },
);

interface RunFlags {
  readonly port: number | null | undefined;
  readonly open: boolean;
  readonly 'no-tray': boolean;
  readonly 'tray-driver': 'sni' | 'systray2' | 'none' | undefined;
  readonly 'no-notifications': boolean;
}

/** @throws Fault `usage` */
function toPlan(flags: RunFlags, io: Io): TrayPlan {
  try {
    const { port, open, 'no-tray': noTray, 'tray-driver': driver, 'no-notifications': quiet } = flags;
    if (driver !== undefined && driver !== 'none' && noTray)
      throw new Error('use only one of --tray-driver and --no-tray');
    const plan = {
      port: port === undefined ? parsePort(io.env.HIVEBAR_PORT, 'HIVEBAR_PORT') : port,
      tray: noTray ? 'none' : (driver ?? null),
      notifications: !quiet,
      open,
      // A journal or a file would keep the link for others to read.
      showLink: isTerminal() ? (url: string, goodForMs: number) => io.out(formatLink(url, goodForMs)) : null,
    } as const;
    return { ...plan, args: toArgs(plan) };
  } catch (error) {
    throw toUsageFault(error);
  }
}

function formatLink(url: string, goodForMs: number): string {
  return `open the status page: ${url}\nThis link logs one browser in, within ${formatDuration(goodForMs)}. For another one run hivebar open.\n`;
}

/** Formats the flags that make the plan again. */
function toArgs({ port, tray, notifications }: Omit<TrayPlan, 'args'>): readonly string[] {
  return [
    ...(port === null ? [] : ['--port', String(port)]),
    ...(tray === null ? [] : ['--tray-driver', tray]),
    ...(notifications ? [] : ['--no-notifications']),
  ];
}

function parsePort(text: string | undefined, name: string): number | null {
  if (text === undefined || text === '') return null;
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new Error(`${name} ${text}: must be a port number from 0 to 65535`);
  return port;
}
