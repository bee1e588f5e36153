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
        ...{ summary, needs, group: 'agents' as const },
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
    summary: 'start Hivebar: icon, notifications and page (the default)',
    group: 'watch',
    needs: 'bare',
    load: () => import('./run.ts'),
  },
  stop: {
    summary: 'end the tray program',
    group: 'setup',
    needs: 'bare',
    load: () => import('./stop.ts'),
  },
  restart: {
    summary: 'end the tray program and start it again as it ran before',
    group: 'setup',
    needs: 'bare',
    load: () => import('./restart.ts'),
  },
  logs: {
    summary: 'show what the tray program logged',
    group: 'setup',
    needs: 'bare',
    load: () => import('./logs.ts'),
  },
  ...QUICK_COMMANDS,
  top: {
    summary: 'show everybody on the whole terminal, live',
    group: 'watch',
    needs: 'tray',
    load: () => import('./top.ts'),
  },
  send: {
    summary: 'send a message to a persona of the local hive',
    group: 'mail',
    needs: 'store',
    load: () => import('./send.ts'),
  },
  reply: {
    summary: 'reply to the agent of a persona, as you',
    group: 'mail',
    needs: 'tray',
    load: () => import('./reply.ts'),
  },
  inbox: {
    summary: 'list, show, read, push or drain messages of the local hive',
    group: 'mail',
    needs: 'store',
    load: () => import('./inbox.ts'),
  },
  devices: {
    summary: 'list the browsers that stay logged in, and log them out',
    group: 'setup',
    needs: 'bare',
    load: () => import('./devices.ts'),
  },
  message: {
    summary: 'delete messages of the local hive',
    group: 'mail',
    needs: 'store',
    load: () => import('./message.ts'),
  },
  persona: {
    summary: 'list and remove personas of the local hive',
    group: 'mail',
    needs: 'store',
    load: () => import('./persona.ts'),
  },
  decision: {
    summary: 'ask a person for a decision, answer one, wait for the answer',
    group: 'mail',
    needs: 'store',
    load: () => import('./decision.ts'),
  },
  permission: {
    summary: 'list permission prompts of agents, and answer one at a terminal',
    group: 'mail',
    needs: 'tray',
    load: () => import('./permission.ts'),
  },
  gate: {
    summary: 'register and mark conditions that hold a stop, a tool or a prompt',
    group: 'agents',
    needs: 'store',
    load: () => import('./gate.ts'),
  },
  ...SOURCE_COMMANDS,
  daemon: {
    summary: 'install and control daemons that ring when something waits',
    group: 'agents',
    needs: 'bare',
    load: () => import('./daemon.ts'),
  },
  tail: {
    summary: "print a persona's events, each once, and follow them",
    group: 'watch',
    needs: 'bare',
    load: () => import('./tail.ts'),
  },
  follow: {
    summary: 'wake an agent for its events, whatever program it runs in',
    group: 'agents',
    needs: 'store',
    load: () => import('./follow.ts'),
  },
  mcp: {
    summary: 'serve an agent its inbox as tools, over MCP',
    group: 'agents',
    needs: 'store',
    load: () => import('./mcp.ts'),
  },
  open: {
    summary: "open a persona's session, or the status page",
    group: 'watch',
    needs: 'tray',
    load: () => import('./open.ts'),
  },
  mute: {
    summary: 'mute a persona: no notifications, for a time or until unmuted',
    group: 'notifications',
    needs: 'tray',
    load: async () => ({ command: (await import('./silence.ts')).mute }),
  },
  unmute: {
    summary: 'unmute a persona',
    group: 'notifications',
    needs: 'tray',
    load: async () => ({ command: (await import('./silence.ts')).unmute }),
  },
  hide: {
    summary: 'leave a persona out of tray, page, totals and notifications',
    group: 'notifications',
    needs: 'tray',
    load: async () => ({ command: (await import('./silence.ts')).hide }),
  },
  unhide: {
    summary: 'show a hidden persona again',
    group: 'notifications',
    needs: 'tray',
    load: async () => ({ command: (await import('./silence.ts')).unhide }),
  },
  pause: {
    summary: 'pause all notifications, for a time or until resumed',
    group: 'notifications',
    needs: 'tray',
    load: async () => ({ command: (await import('./silence.ts')).pause }),
  },
  resume: {
    summary: 'resume notifications after a pause',
    group: 'notifications',
    needs: 'tray',
    load: async () => ({ command: (await import('./silence.ts')).resume }),
  },
  hive: {
    summary: 'add, list or remove further hives',
    group: 'setup',
    needs: 'bare',
    load: () => import('./hive.ts'),
  },
  nats: {
    summary: 'check that a NATS server can relay to other machines',
    group: 'setup',
    needs: 'bare',
    load: () => import('./nats.ts'),
  },
  config: {
    summary: 'show, check and change the settings',
    group: 'setup',
    needs: 'bare',
    load: () => import('./config.ts'),
  },
  session: {
    summary: 'record where a persona works, so that a click opens its session',
    group: 'agents',
    needs: 'store',
    load: () => import('./session.ts'),
  },
  hook: {
    summary: 'install the hooks that agent programs run between turns',
    group: 'agents',
    needs: 'store',
    load: () => import('./hook.ts'),
  },
  watch: {
    summary: 'watch hives without a desktop, for servers',
    group: 'watch',
    needs: 'bare',
    load: () => import('./watch.ts'),
  },
  notify: {
    summary: 'show a test notification',
    group: 'notifications',
    needs: 'tray',
    load: () => import('./notify.ts'),
  },
  doctor: {
    summary: 'find out why there is no icon, no notification or no mail',
    group: 'setup',
    needs: 'bare',
    load: () => import('./doctor.ts'),
  },
  service: {
    summary: 'start Hivebar at every login, with or without a desktop',
    group: 'setup',
    needs: 'bare',
    load: () => import('./service.ts'),
  },
  migrate: {
    summary: 'import the positions of the Kijito inbox monitor',
    group: 'setup',
    needs: 'store',
    load: () => import('./migrate.ts'),
  },
  completions: {
    summary: 'print the completion script of a shell',
    group: 'setup',
    needs: 'bare',
    load: () => import('./completions.ts'),
  },
  demo: {
    summary: 'fill the local hive with a few personas and some mail',
    group: 'setup',
    needs: 'store',
    load: () => import('./demo.ts'),
  },
  uninstall: {
    summary: 'take back what Hivebar installed; --purge: everything',
    group: 'setup',
    needs: 'bare',
    load: () => import('./uninstall.ts'),
  },
};
