import { realRandom, realSpawn } from '../../core/ports/index.ts';
import { realDisk } from '../../core/state/index.ts';
import { printable } from '../printable.ts';
import { type LoginLook, loginStart } from '../service/index.ts';
import type { Command } from './command.ts';
import { usage } from './outcome.ts';
import { hostOs } from './service-host.node.ts';
import { stderrLog } from './stderr-log.ts';

export const command: Command = {
  usage: 'service install|uninstall|status',
  about: [
    '  install     start Hivebar at every login from the next one on, with the paths of this node and this program',
    '  uninstall   no longer',
    '  status      what is there',
    '',
    "Linux: a unit of the user's systemd, or an XDG autostart file where the desktop does not start with systemd.",
    'macOS: a LaunchAgent. Windows: a task of the Task Scheduler. What runs now goes on as it is.',
  ],
  examples: [
    { run: 'hivebar service install', does: 'start at login; again after node or Hivebar moved' },
    { run: 'hivebar service status', does: 'whether it does, and by which file' },
  ],
  async run(args, io) {
    const what = wordOf(args);
    const disk = realDisk(stderrLog(io, 'service'));
    const login = loginStart({ os: hostOs(), env: io.env, disk, random: realRandom, spawn: realSpawn });
    const before = await login.look();
    if (before.is === 'foreign' && what !== 'status') {
      io.err(
        `hivebar service: ${printable(`${before.path} ${before.why}`)}: it is left as it is; move it away first\n`,
      );
      return 1;
    }
    if (what !== 'status') await login.set(what === 'install');
    io.out(`${printable(sentenceOf(what === 'status' ? before : await login.look()))}\n`);
    return 0;
  },
};

type Word = 'install' | 'uninstall' | 'status';

function wordOf(args: readonly string[]): Word {
  const [word] = args;
  if (args.length === 1 && (word === 'install' || word === 'uninstall' || word === 'status')) return word;
  throw usage(
    new Error(
      word === undefined
        ? 'say install, uninstall or status'
        : `${args.join(' ')}: must be install, uninstall or status`,
    ),
  );
}

/** What a person reads of start at login. */
export function sentenceOf(look: LoginLook): string {
  switch (look.is) {
    case 'on':
      return `starts at login, by ${look.path}${look.isOld ? ', which starts another node or another copy of Hivebar than this one' : ''}`;
    case 'off':
      return look.path === null
        ? 'does not start at login'
        : `does not start at login: ${look.path} is there and switched off`;
    case 'foreign':
      return `can not be told: ${look.path} ${look.why}`;
  }
}
