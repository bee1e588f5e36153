import { type Io, toUsageFault } from '../../../core/command/index.ts';
import { type DaemonPlaces, MOST_DEADLINE_MS } from '../../../core/link/index.ts';
import { Fault } from '../../../core/model/index.ts';
import { realClock } from '../../../core/ports/index.ts';
import { createRealDisk, isLocked } from '../../../core/state/index.ts';
import { createStderrLog } from '../stderr-log.ts';
import { requestAnswer, resolveDaemon } from './daemon-request.ts';
import { parseDaemonArgs } from './schema.ts';

const CHECK_EVERY_MS = 20;
/** Time after the daemon's own deadline for closing files and exiting. */
const GRACE_MS = 1000;
const REASON = 'asked by a person';

/**
 * `daemon shutdown`: asks a daemon to end, and waits for the end.
 * @throws Fault `usage`, `daemon-gone`, or `daemon-refused` when it still runs after its deadline
 */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const flags = parseDaemonArgs('shutdown', args);
  const { places } = resolveDaemon(flags, io);
  const deadlineMs = parseDeadline(flags.deadline);
  const reason = flags.reason ?? REASON;
  await requestAnswer(places, { verb: 'shutdown', reason, deadlineMs });
  await waitForEnd(places, deadlineMs, io);
  io.out(flags.json ? '{"ok":true}\n' : `${places.name}: ended\n`);
  return 0;
}

function parseDeadline(text: string | undefined): number {
  if (text === undefined) return MOST_DEADLINE_MS;
  const ms = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (ms <= MOST_DEADLINE_MS) return ms;
  throw toUsageFault(new Error(`--deadline ${text}: must be a number of milliseconds, at most ${MOST_DEADLINE_MS}`));
}

/** Waits until the lock is free: the system releases it whenever and however the process ends. */
async function waitForEnd({ name, locked }: DaemonPlaces, deadlineMs: number, io: Io): Promise<void> {
  const disk = createRealDisk(createStderrLog(io, 'hivebar daemon'));
  const until = realClock.monotonic() + deadlineMs + GRACE_MS;
  while (isLocked(disk, `${locked}.lock`)) {
    if (realClock.monotonic() > until) {
      const message = `the daemon ${name} was asked to end and still runs after ${deadlineMs + GRACE_MS} ms`;
      throw new Fault('daemon-refused', message, { is: 'machine', key: `daemon:${name}` });
    }
    await realClock.sleep(CHECK_EVERY_MS, new AbortController().signal);
  }
}
