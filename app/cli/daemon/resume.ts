import type { Io } from '../command.ts';
import { answerOf } from './asked.ts';
import { whichDaemon } from './which.ts';

/** `daemon resume`: binds the surface of a daemon again. @throws Fault `usage`, `daemon-gone` or `daemon-refused` */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { places, flags } = whichDaemon('resume', args, {}, io);
  await answerOf(places, { verb: 'resume_surface' });
  io.out(flags.json === true ? '{"ok":true}\n' : `${places.name}: bound again\n`);
  return 0;
}
