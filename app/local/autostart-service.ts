import type { Board } from '../../core/board/index.ts';
import { toFault } from '../../core/model/index.ts';
import { type Service, untilAborted } from '../../core/services/index.ts';
import type { Machine } from '../host/machine.ts';
import type { LoginStart } from '../service/index.ts';

export interface AutostartOptions {
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
      log.info(`whether it starts at login cannot be told: ${message}`);
    }
  }
  return { name: 'autostart', run: async (signal) => await Promise.race([tell(), untilAborted(signal)]) };
}
