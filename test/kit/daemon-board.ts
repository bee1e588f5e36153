import { mkdirSync, writeFileSync } from 'node:fs';
import {
  askDaemon,
  type DaemonConfig,
  type DaemonPlaces,
  type DaemonStatus,
  findOwnDaemonPlaces,
} from '../../core/link/index.ts';
import { createExport } from './daemon-export.ts';
import { DAEMON_PERSONAS, installPersonas } from './daemon-personas.ts';
import { type Cli, startCli } from './process.ts';
import type { TrayHome } from './tray-process.ts';
import { until } from './until.ts';

const FASTER = import.meta.resolve('./fast-time.mjs');
const TENANT = 'lab';

/** A daemon of this home as it would be installed, for `owner: launcher`: no tray process starts it. */
export const createConfig = (identity: string, over: Partial<DaemonConfig> = {}): DaemonConfig => ({
  ...(DAEMON_PERSONAS[0] as DaemonConfig),
  ...{ identity, address: identity, ...over },
});

/** Installs them, and says their tokens. */
export const installIn = (home: TrayHome, ...configs: readonly DaemonConfig[]) => installPersonas(home.dir, configs);

export const findPlaces = (home: TrayHome, identity: string): DaemonPlaces =>
  findOwnDaemonPlaces({ tenant: TENANT, identity }, home.env);

/** The id of its persona on the board. */
export const boardId = (identity: string): string => `daemon-${TENANT}-${identity}`;

/** The real daemon of an installed persona, until the test leaves its scope. */
export interface BoardDaemon extends AsyncDisposable {
  readonly cli: Cli;
  status(): Promise<DaemonStatus | null>;
  connected(): Promise<void>;
  kill(): Promise<void>;
}

/** @param faster its time runs so many times as fast */
export async function startDaemon(home: TrayHome, identity: string, faster = 1): Promise<BoardDaemon> {
  const time = faster === 1 ? {} : { NODE_OPTIONS: `--import=${FASTER}`, FASTER: String(faster) };
  const words = ['daemon', 'run', '--tenant', TENANT, '--identity', identity, '--project', 'lab'];
  const cli = startCli(words, { env: { ...home.env, ...time } });
  const places = findPlaces(home, identity);
  let last: DaemonStatus | null = null;
  const status = async (): Promise<DaemonStatus | null> => {
    const asked = await askDaemon(places, { verb: 'status' }, { timeoutMs: 5000 });
    last = asked.is === 'answered' && asked.answer.pid === cli.pid ? asked.answer : null;
    return last;
  };
  return {
    cli,
    status,
    async connected() {
      let isOver = false;
      const asking = (async () => {
        while (!isOver) {
          const now = await status();
          isOver ||= now?.fsm === 'CONNECTED' && now.pending.fresh;
        }
      })();
      try {
        await until(
          () => `the daemon of ${identity}: ${JSON.stringify(last)} ${cli.stderr}`,
          () => isOver,
        );
      } finally {
        isOver = true;
        await asking;
      }
    },
    async kill() {
      cli.kill('SIGKILL');
      await cli.ended();
    },
    [Symbol.asyncDispose]: () => cli[Symbol.asyncDispose](),
  };
}

/** What a daemon that runs leaves in its runtime directory: this process stands for its own. */
export function exportAs(home: TrayHome, identity: string, text: string = createExport(TENANT, identity)): void {
  const { runtime, metrics, pid } = findPlaces(home, identity);
  mkdirSync(runtime, { recursive: true, mode: 0o700 });
  writeFileSync(pid, `${process.pid}\n`, { mode: 0o600 });
  writeFileSync(metrics, text, { mode: 0o600 });
}
