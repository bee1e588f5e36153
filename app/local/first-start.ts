import type { Board } from '../../core/board/index.ts';
import type { LocalHive } from '../../core/inbox/index.ts';
import { toFault } from '../../core/model/index.ts';
import { type Service, untilAborted } from '../../core/services/index.ts';
import type { Machine } from '../host/machine.node.ts';
import type { LoginStart } from '../service/index.ts';

interface AutostartOptions {
  readonly login: LoginStart;
  readonly board: Board;
}

/** Asks the system once whether Hivebar starts at login, which may take a while, and puts the answer on the board. */
export function createAutostartService({ login, board }: AutostartOptions, { clock, log }: Machine): Service {
  async function tell(): Promise<void> {
    try {
      board.put({ is: 'autostart', at: clock.now(), on: await login.state() });
    } catch (error) {
      const { message } = toFault(error, { is: 'machine', key: 'autostart' });
      log.info(`cannot determine whether Hivebar starts at login: ${message}`);
    }
  }
  return { name: 'autostart', run: async (signal) => await Promise.race([tell(), untilAborted(signal)]) };
}

const NAME = 'hello';

/**
 * Sends the one mail of a first run that has nothing else to watch. It shows how the program looks with mail, and what to do
 * next.
 *
 * @param found what is watched beside the local hive, one line each
 */
export async function greet(
  hive: LocalHive,
  eventsFile: (persona: string) => string,
  found: readonly string[],
): Promise<void> {
  if (hive.personas().length > 0) return;
  const watched = found.length === 0 ? '' : ` Watched: ${found.join('; ')}. hivebar source list shows more.`;
  await hive.send({
    to: NAME,
    from: 'hivebar',
    urgent: false,
    content: `Welcome. Send mail: hivebar send --to ada --from me "hi". An agent follows its file: tail -F ${eventsFile(NAME)}. Read this: hivebar inbox read ${NAME}. More personas: hivebar demo${watched}`,
  });
}
