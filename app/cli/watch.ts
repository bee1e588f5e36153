import { type Command, toUsageFault } from '../../core/command/index.ts';
import { displayName } from '../../core/format/index.ts';
import { realClock } from '../../core/ports/index.ts';
import { createRealDisk } from '../../core/state/index.ts';
import { parseWatch, WATCH_FLAGS } from '../config/watch/index.ts';
import { ACTIVITY_EXIT, askActivity } from '../headless/watch-alarms.ts';
import { createRealMachine } from '../host/machine.node.ts';
import { closeUninvitedInspector } from '../host/poke-signal.node.ts';
import { runWatch } from '../program/watch.ts';
import { createStderrLog } from './process.node.ts';

export const command: Command = {
  schema: {
    name: 'watch',
    about: [],
    flags: WATCH_FLAGS,
    examples: [
      { run: 'hivebar watch --persona ada', does: 'events of one inbox on stdout' },
      {
        run: 'hivebar watch --state-file ~/.local/state/kijito/hive.json --events-file-template events.{persona}.ndjson',
        does: 'every inbox, a file each, across restarts',
      },
      { run: 'hivebar watch --self-test --persona ada', does: 'one real fetch, then exit' },
    ],
  },
  async run(args, io) {
    const parsed = parseWatch(args);
    if (parsed.is === 'usage') throw toUsageFault(new Error(parsed.message));
    const log = createStderrLog(io, 'hivebar watch');
    for (const warning of parsed.warnings) log.warn(warning);
    const { checkActivity, activityFile } = parsed.plan;
    if (checkActivity !== null && activityFile !== null) {
      const verdict = askActivity(createRealDisk(log), activityFile, checkActivity, realClock.now());
      io.out(`${displayName(verdict.words)}\n`);
      return ACTIVITY_EXIT[verdict.is];
    }
    const machine = createRealMachine(log);
    if (await closeUninvitedInspector()) log.warn('closed an inspector that a SIGUSR1 during the start had opened');
    return await runWatch(parsed.plan, machine);
  },
};
