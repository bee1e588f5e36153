import type { Io } from '../../../core/command/index.ts';
import { displayName } from '../../../core/format/index.ts';
import { createRealDisk } from '../../../core/state/index.ts';
import { printLog, readLog } from '../log-lines.ts';
import { createStderrLog, createStopSignal } from '../process.node.ts';
import { hasJournal, readJournal } from './journal.node.ts';
import { parseDaemonArgs } from './schema.ts';
import { resolveDaemon } from './simple-requests.ts';

/** `daemon logs`: prints the log of a daemon from the journal of its unit, else from its log file. @throws Fault `usage` */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const values = parseDaemonArgs('logs', args);
  const { places } = resolveDaemon(values, io);
  const { follow, lines: most, json } = values;
  const stop = createStopSignal();
  const disk = createRealDisk(createStderrLog(io, 'hivebar daemon'));
  const options = { most, follow, stop };
  if (hasJournal(places.unit, io.env)) await printLog(readJournal(places.unit, options, io.env), json, stop);
  else if (follow || disk.files.lstat(places.log) !== null)
    await printLog(readLog(disk, places.log, options), json, stop);
  else {
    io.err(`hivebar daemon: ${displayName(`${places.name} has logged nothing here: there is no ${places.log}`)}\n`);
    return 1;
  }
  return 0;
}
