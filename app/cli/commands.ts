import type { CommandEntry } from './command.ts';
import { QUICK_COMMANDS } from './quick-commands.ts';

/** Every command by its name, in the order help shows them. A file is loaded when its command runs. */
export const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  run: {
    summary: 'run the tray program: watch every inbox, show badges and notifications (the default)',
    needs: 'bare',
    load: () => import('./run.ts'),
  },
  ...QUICK_COMMANDS,
  send: {
    summary: 'send a message to a persona of the local hive',
    needs: 'store',
    load: () => import('./send.ts'),
  },
  inbox: {
    summary: 'list, show or read mail of the local hive',
    needs: 'store',
    load: () => import('./inbox.ts'),
  },
  session: {
    summary: 'say where a persona works, so that a click opens its session',
    needs: 'store',
    load: () => import('./session.ts'),
  },
  watch: {
    summary: 'watch hives without a desktop: events on stdout, in files, or to a command',
    needs: 'bare',
    load: () => import('./watch.ts'),
  },
  notify: {
    summary: 'show a banner to try out the notifications',
    needs: 'tray',
    load: () => import('./notify.ts'),
  },
  doctor: {
    summary: 'say why there is no icon, no banner or no mail, and what to do',
    needs: 'bare',
    load: () => import('./doctor.ts'),
  },
  service: {
    summary: 'start Hivebar at every login, or no longer',
    needs: 'bare',
    load: () => import('./service.ts'),
  },
  demo: {
    summary: 'fill the local hive with a few personas and some mail',
    needs: 'store',
    load: () => import('./demo.ts'),
  },
};
