import { parseArgs } from 'node:util';
import { type Io, type TextCommand, toUsageFault } from '../../core/command/index.ts';
import { findOwnDirs } from '../../core/state/index.ts';
import { createRealMachine, limitHeap } from '../host/machine.node.ts';
import { closeUninvitedInspector } from '../host/poke-signal.node.ts';
import { createRunLog } from '../host/run-log.node.ts';
import { runTray, type TrayPlan } from '../program/tray.ts';
import { askTray } from './tray-request.node.ts';

/** Another hivebar is already running. */
const EXIT_ALREADY_RUNNING = 3;

export const command: TextCommand = {
  usage: '[run] [--port N] [--open] [--no-tray] [--tray-driver sni|systray2|none] [--no-notifications]',
  about: [
    'Watches every inbox, shows the tray icon and notifications, serves the status page, and writes an event file per persona.',
    '',
    '  --port N                   port of the status page (default 7475, or HIVEBAR_PORT; 0: any)',
    '  --open                     open the status page; also when hivebar runs already',
    '  --no-tray                  no tray icon',
    '  --tray-driver sni|systray2 how the icon is shown (default: by the desktop)',
    '  --no-notifications         no notifications',
    '',
    'HIVEBAR_HOME moves everything it keeps: state, run files, settings.',
  ],
  examples: [
    { run: 'hivebar', does: 'run it' },
    {
      run: 'HIVEBAR_HOME=/tmp/try hivebar --port 0',
      does: 'a second one, for a try, that touches nothing of the first',
    },
  ],
  async run(args, io) {
    const { plan, open } = parsePlan(args, io);
    const log = createRunLog();
    limitHeap({ storms: true });
    const machine = createRealMachine(log);
    if (await closeUninvitedInspector()) log.warn('closed an inspector that a SIGUSR1 during the start had opened');
    const end = await runTray(plan, findOwnDirs({ ...io.env }), machine);
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
};

function parsePlan(args: readonly string[], io: Io): { plan: TrayPlan; open: boolean } {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        port: { type: 'string' },
        open: { type: 'boolean', default: false },
        'no-tray': { type: 'boolean', default: false },
        'tray-driver': { type: 'string' },
        'no-notifications': { type: 'boolean', default: false },
      },
    });
    const driver = values['tray-driver'];
    if (driver !== undefined && driver !== 'sni' && driver !== 'systray2' && driver !== 'none')
      throw new Error(`--tray-driver ${driver}: must be sni, systray2 or none`);
    if (driver !== undefined && driver !== 'none' && values['no-tray'])
      throw new Error('--tray-driver and --no-tray: give one of them');
    const port =
      values.port === undefined ? parsePort(io.env.HIVEBAR_PORT, 'HIVEBAR_PORT') : parsePort(values.port, '--port');
    const tray = values['no-tray'] ? 'none' : (driver ?? null);
    return { plan: { port, tray, notifications: !values['no-notifications'], open: values.open }, open: values.open };
  } catch (error) {
    throw toUsageFault(error);
  }
}

function parsePort(text: string | undefined, name: string): number | null {
  if (text === undefined || text === '') return null;
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new Error(`${name} ${text}: must be a port number from 0 to 65535`);
  return port;
}
