import type { Board } from '../../core/board/index.ts';
import { Fault, toFault } from '../../core/model/index.ts';
import type { Clock, Log } from '../../core/ports/index.ts';
import { type LiveSettings, type SettingsChange, watchSettings } from '../config/tray/index.ts';

interface SettingsServiceOptions {
  /** The settings file. */
  readonly path: string;
  readonly board: Pick<Board, 'put'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Applies changes of the settings file while Hivebar is running. */
export interface SettingsService extends Disposable {
  /** @throws Fault as `LiveSettings.reload` does; the board shows it until the next change that is good */
  reload(): Promise<SettingsChange>;
  /** Begins to apply changes, with those since the start. A `reload` before waits for this. */
  begin(): void;
}

const SCOPE = { is: 'machine', key: 'config' } as const;

/** Follows the settings file, whoever writes it: a command, the page, or a person with an editor. */
export function followSettings(live: LiveSettings, options: SettingsServiceOptions): SettingsService {
  const { path, board, clock, log } = options;
  const ready = Promise.withResolvers<void>();
  const put = (fault: Fault | null): void => board.put({ is: 'machine', at: clock.now(), key: SCOPE.key, fault });
  let shown: string | null = null;

  async function reload(): Promise<SettingsChange> {
    await ready.promise;
    try {
      const change = await live.reload();
      if (change.applied.length > 0) log.info(`settings that apply from now on: ${change.applied.join(', ')}`);
      if (shown !== null) put(null);
      shown = null;
      return change;
    } catch (error) {
      const fault = toFault(error, SCOPE);
      if (fault.message !== shown) {
        log.warn(`the settings are not applied: ${fault.explain()}`);
        put(new Fault(fault.code, fault.message, SCOPE, { cause: error }));
      }
      shown = fault.message;
      throw error;
    }
  }
  const reloadAlone = (): void => void reload().catch(() => {}); // the board and the log have it

  const watcher = watchSettings(path, {
    clock,
    heard: reloadAlone,
    failed: (why) => log.warn(`edits of ${path} apply at the next start: its folder cannot be watched: ${why}`),
  });
  return {
    reload,
    begin() {
      ready.resolve();
      reloadAlone();
    },
    [Symbol.dispose]: () => watcher[Symbol.dispose](),
  };
}
