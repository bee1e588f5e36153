import type { Io } from '../../../core/command/index.ts';
import type { RingWhy } from '../../../core/link/index.ts';
import { requestAnswer, resolveDaemon } from './daemon-request.ts';
import { parseDaemonArgs } from './schema.ts';

const WORDS: Readonly<Record<RingWhy, string>> = {
  rung: 'rung',
  queued: 'at the next turn boundary, if something waits then',
  disconnected: 'not now: its upstream is not connected',
  reconciling: 'not now: it does not know yet whether something waits',
  emitting: 'not now: it is ringing',
  nothing_pending: 'not now: nothing waits',
  outstanding: 'not now: it has rung, and nothing was drained since',
  duplicate_boundary: 'not now: it has rung at this turn boundary',
  surface_inject_failed: 'not now: its surface did not accept it',
  stopping: 'no: it is stopping',
};

/** `daemon notify`: asks for a doorbell at the next turn boundary. @throws Fault `usage`, `daemon-gone` or `daemon-refused` */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const flags = parseDaemonArgs('notify', args);
  const { places } = resolveDaemon(flags, io);
  const { emitted, why } = await requestAnswer(places, { verb: 'notify_surface', boundary: null });
  io.out(flags.json ? `${JSON.stringify({ emitted, why })}\n` : `${places.name}: ${WORDS[why]}\n`);
  return 0;
}
