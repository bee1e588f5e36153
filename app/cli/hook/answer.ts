import type { Io } from '../../../core/command/index.ts';
import { toUsageFault } from '../../../core/command/index.ts';
import type { Log } from '../../../core/ports/index.ts';
import { PROBE, PROBE_ANSWER } from '../../hook/index.ts';
import { createStderrLog } from '../stderr-log.ts';
import { parseHookArgs } from './args.ts';
import { runHook } from './run.ts';
import { isPerson } from './stdin.node.ts';

/**
 * Runs one call of a hook, from its command line. A harness treats every exit code but 0 as a failure of the hook, and 2 holds
 * its agent. An error is therefore one line on stderr, and the exit code is 0.
 * @throws Fault `usage` to a person who calls it by mistake
 */
export async function answerHook(args: readonly string[], io: Io): Promise<number> {
  if (io.env[PROBE]) {
    io.out(`${PROBE_ANSWER}\n`);
    return 0;
  }
  const messages: string[] = [];
  const say = (line: string): void => void messages.push(line.split('\n', 1).join(''));
  const log: Log = { info: say, warn: say, error: say };
  try {
    await runHook(parseHookArgs(args, io.env), io, log);
  } catch (error) {
    if (isPerson()) throw toUsageFault(error);
    say(error instanceof Error ? error.message : String(error));
  }
  if (messages.length > 0) createStderrLog(io, 'hivebar hook').warn(messages.join('; '));
  return 0;
}
