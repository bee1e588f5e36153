import type { CommandEntry, CommandTable } from '../../core/command/index.ts';
import { SOURCE_LIST } from '../../core/sources/derived.ts';
import type { CommandHost } from '../../core/sources/module.ts';
import { QUICK_COMMANDS } from './quick-commands.ts';

/** The commands of all sources. */
const SOURCE_COMMANDS: CommandTable = Object.fromEntries(
  SOURCE_LIST.flatMap(({ commands = [] }) =>
    commands.map(({ name, summary, needs, load }) => [
      name,
      {
        ...{ summary, needs },
        load: async () => {
          const [{ createCommand }, host] = await Promise.all([load(), loadHost()]);
          return { command: createCommand(host) };
        },
      },
    ]),
  ),
);

async function loadHost(): Promise<CommandHost> {
  return (await import('./command-host.ts')).COMMAND_HOST;
}

/** Every command by name, in the order of the help text. A command's file is loaded when the command runs. */
export const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  run: {
    summary: 'run the tray program: watch every inbox, show badges and notifications (the default)',
    needs: 'bare',
    load: () => import('./run.ts'),
  },
  stop: {
    summary: 'end the tray program',
    needs: 'bare',
    load: () => import('./stop.ts'),
  },
  restart: {
    summary: 'end the tray program and start it again as it ran before',
    needs: 'bare',
    load: () => import('./restart.ts'),
  },
  logs: {
    summary: 'show what the tray program logged',
    needs: 'bare',
    load: () => import('./logs.ts'),
  },
  ...QUICK_COMMANDS,
  send: {
    summary: 'send a message to a persona of the local hive',
    needs: 'store',
    load: () => import('./send.ts'),
  },
  reply: {
    summary: 'reply to the agent of a persona as you, through the system of its inbox',
    needs: 'tray',
    load: () => import('./reply.ts'),
  },
  inbox: {
    summary: 'list, show, read, push or drain messages and items of the local hive',
    needs: 'store',
    load: () => import('./inbox.ts'),
  },
  devices: {
    summary: 'list the browsers that stay logged in, and log them out',
    needs: 'bare',
    load: () => import('./devices.ts'),
  },
  decision: {
    summary: 'ask a person for a decision, answer one, wait for the answer',
    needs: 'store',
    load: () => import('./decision.ts'),
  },
  permission: {
    summary: 'list permission prompts of agents, and answer one at a terminal',
    needs: 'tray',
    load: () => import('./permission.ts'),
  },
  gate: {
    summary: 'register and mark conditions that hold a stop, a tool or a prompt',
    needs: 'store',
    load: () => import('./gate.ts'),
  },
  ...SOURCE_COMMANDS,
  daemon: {
    summary: 'install and control persona daemons, which ring a doorbell when something waits',
    needs: 'bare',
    load: () => import('./daemon.ts'),
  },
  tail: {
    summary: "print a persona's events, each once, and follow them",
    needs: 'bare',
    load: () => import('./tail.ts'),
  },
  follow: {
    summary: 'wake an agent for its events: Claude Code, Codex, a pipe or any command',
    needs: 'store',
    load: () => import('./follow.ts'),
  },
  mcp: {
    summary: 'serve an agent its inbox as tools, over the Model Context Protocol',
    needs: 'store',
    load: () => import('./mcp.ts'),
  },
  open: {
    summary: "open a persona's session, or the status page",
    needs: 'tray',
    load: () => import('./open.ts'),
  },
  mute: {
    summary: 'mute a persona: no notifications, for a time or until unmuted',
    needs: 'tray',
    load: async () => ({ command: (await import('./silence.ts')).mute }),
  },
  unmute: {
    summary: 'unmute a persona',
    needs: 'tray',
    load: async () => ({ command: (await import('./silence.ts')).unmute }),
  },
  hide: {
    summary: 'leave a persona out of tray, page, totals and notifications',
    needs: 'tray',
    load: async () => ({ command: (await import('./silence.ts')).hide }),
  },
  unhide: {
    summary: 'show a hidden persona again',
    needs: 'tray',
    load: async () => ({ command: (await import('./silence.ts')).unhide }),
  },
  pause: {
    summary: 'pause all notifications, for a time or until resumed',
    needs: 'tray',
    load: async () => ({ command: (await import('./silence.ts')).pause }),
  },
  resume: {
    summary: 'resume notifications after a pause',
    needs: 'tray',
    load: async () => ({ command: (await import('./silence.ts')).resume }),
  },
  hive: {
    summary: 'add, list or remove further hives',
    needs: 'bare',
    load: () => import('./hive.ts'),
  },
  nats: {
    summary: 'check that a NATS server can relay the local hive to other machines',
    needs: 'bare',
    load: () => import('./nats.ts'),
  },
  config: {
    summary: 'show, check and change the settings',
    needs: 'bare',
    load: () => import('./config.ts'),
  },
  session: {
    summary: 'record where a persona works, so that a click opens its session',
    needs: 'store',
    load: () => import('./session.ts'),
  },
  hook: {
    summary: 'install the hooks that agent programs run between turns',
    needs: 'store',
    load: () => import('./hook.ts'),
  },
  watch: {
    summary: 'watch hives without a desktop: events on stdout, in files, or to a command',
    needs: 'bare',
    load: () => import('./watch.ts'),
  },
  notify: {
    summary: 'show a test notification',
    needs: 'tray',
    load: () => import('./notify.ts'),
  },
  doctor: {
    summary: 'find out why there is no icon, no notification or no mail',
    needs: 'bare',
    load: () => import('./doctor.ts'),
  },
  service: {
    summary: 'start Hivebar at every login, with or without a desktop',
    needs: 'bare',
    load: () => import('./service.ts'),
  },
  migrate: {
    summary: 'import the positions of the Kijito inbox monitor',
    needs: 'store',
    load: () => import('./migrate.ts'),
  },
  completions: {
    summary: 'print the completion script of a shell',
    needs: 'bare',
    load: () => import('./completions.ts'),
  },
  demo: {
    summary: 'fill the local hive with a few personas and some mail',
    needs: 'store',
    load: () => import('./demo.ts'),
  },
};
