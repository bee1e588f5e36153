import { realClock } from '../../core/ports/index.ts';
import { realDisk } from '../../core/state/index.ts';
import { ACTIVITY_EXIT, askActivity } from '../compose/check-activity.ts';
import { closeUninvitedInspector } from '../compose/early.node.ts';
import { realMachine } from '../compose/machine.node.ts';
import { runWatch } from '../compose/watch.ts';
import { parseWatch, watchHelp } from '../config/watch/index.ts';
import { printable } from '../printable.ts';
import type { Command } from './command.ts';
import { usage } from './outcome.ts';
import { stderrLog } from './stderr-log.ts';

export const command: Command = {
  usage: 'watch [FLAGS]',
  about: watchHelp(),
  examples: [
    { run: 'hivebar watch --persona ada', does: 'events of one inbox on stdout' },
    {
      run: 'hivebar watch --state-file ~/.local/state/kijito/hive.json --events-file-template events.{persona}.ndjson',
      does: 'every inbox, a file each, across restarts',
    },
    { run: 'hivebar watch --self-test --persona ada', does: 'one real fetch, then exit' },
  ],
  async run(args, io) {
    const parsed = parseWatch(args);
    if (parsed.is === 'usage') throw usage(new Error(parsed.message));
    const log = stderrLog(io, 'hivebar watch');
    for (const warning of parsed.warnings) log.warn(warning);
    const { checkActivity, activityFile } = parsed.plan;
    if (checkActivity !== null && activityFile !== null) {
      const verdict = askActivity(realDisk(log), activityFile, checkActivity, realClock.now());
      io.out(`${printable(verdict.words)}\n`);
      return ACTIVITY_EXIT[verdict.is];
    }
    const machine = realMachine(log);
    if (await closeUninvitedInspector()) log.warn('closed an inspector that a SIGUSR1 during the start had opened');
    return await runWatch(parsed.plan, machine);
  },
};
