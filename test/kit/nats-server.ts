import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { until } from './until.ts';

/** For `needs`: null when a nats-server can be run here. */
export const NO_NATS_SERVER =
  spawnSync('nats-server', ['--version']).status === 0 ? null : 'nats-server is missing: apt-get install nats-server';

export interface NatsServerOptions {
  /** Its store and its config are kept here: a server that is started again with the same one has what it had. */
  readonly dir: string;
  readonly token?: string;
  /** Default: any that is free. */
  readonly port?: number;
  /** Default true. */
  readonly jetStream?: boolean;
  /** Further lines of the config. */
  readonly config?: string;
}

/** A real nats-server on loopback, a process of its own and never the service of the system. */
export interface NatsServer extends AsyncDisposable {
  readonly pid: number;
  readonly port: number;
  readonly url: string;
  readonly token: string;
  log(): string;
  /** SIGSTOP: it neither answers nor goes away. */
  freeze(): void;
  thaw(): void;
  /** SIGKILL, and gone. */
  kill(): Promise<void>;
}

/** Another test may take a port that was free a moment ago. */
const TRIES = 5;

/** @throws with its log when it does not serve in time */
export async function startNatsServer(options: NatsServerOptions): Promise<NatsServer> {
  for (let left = options.port === undefined ? TRIES : 1; ; left -= 1) {
    try {
      return await startOnce(options);
    } catch (error) {
      if (left === 1 || !String(error).includes('address already in use')) throw error;
    }
  }
}

async function startOnce(options: NatsServerOptions): Promise<NatsServer> {
  const { dir, token = 'secret', jetStream = true, config = '' } = options;
  const port = options.port ?? (await freePort());
  const store = `jetstream { store_dir: ${JSON.stringify(join(dir, 'store'))}, max_mem: 64M, max_file: 256M }`;
  const file = join(dir, 'nats.conf');
  const logFile = join(dir, `nats-${port}.log`);
  writeFileSync(
    file,
    `server_name: test\nlisten: 127.0.0.1:${port}\nauthorization { token: ${JSON.stringify(token)} }\nlog_file: ${JSON.stringify(logFile)}\n${jetStream ? store : ''}\n${config}\n`,
  );
  writeFileSync(logFile, '');
  const child: ChildProcess = spawn('nats-server', ['-c', file], { stdio: 'ignore' });
  const log = (): string => readFileSync(logFile, 'utf8');
  await until(
    () => `nats-server is ready:\n${log()}`,
    () => {
      if (child.exitCode !== null) throw new Error(`nats-server ended (${child.exitCode}):\n${log()}`);
      return log().includes('Server is ready');
    },
  );
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  return {
    pid: child.pid ?? -1,
    port,
    url: `nats://127.0.0.1:${port}`,
    token,
    log,
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    kill,
    [Symbol.asyncDispose]: kill,
  };
}

/** A port of loopback that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
