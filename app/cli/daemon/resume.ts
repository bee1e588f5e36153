import type { Io } from '../../../core/command/index.ts';
import { requestAnswer, resolveDaemon } from './daemon-request.ts';
import { parseDaemonArgs } from './schema.ts';

/** `daemon resume`: binds the surface of a daemon again. @throws Fault `usage`, `daemon-gone` or `daemon-refused` */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const flags = parseDaemonArgs('resume', args);
  const { places } = resolveDaemon(flags, io);
  await requestAnswer(places, { verb: 'resume_surface' });
  io.out(flags.json ? '{"ok":true}\n' : `${places.name}: bound again\n`);
  return 0;
}
