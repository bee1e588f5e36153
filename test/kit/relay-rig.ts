import { mkdirSync } from 'node:fs';
import { type NatsServer, type NatsServerOptions, startNatsServer } from './nats-server.ts';
import { type RelayMachine, type RelayMachineOptions, relayMachine } from './relay-machine.ts';
import { scratch } from './scratch.ts';

/** A server and as many machines as a test asks for, each in a directory of its own. */
export interface RelayRig extends AsyncDisposable {
  readonly server: NatsServer;
  readonly dir: string;
  /** Holds the server's token. */
  readonly tokenFile: string;
  /** Writes a private file into the directory. */
  write(name: string, text: string): string;
  machine(name: string, personas: readonly string[], more?: Partial<RelayMachineOptions>): RelayMachine;
  /** SIGKILL, if it still runs, and a new process on the same store and port. */
  restart(options?: Partial<NatsServerOptions>): Promise<void>;
}

export async function relayRig(options: Partial<NatsServerOptions> = {}): Promise<RelayRig> {
  const folder = scratch();
  const dir = folder.at('nats');
  mkdirSync(dir);
  let server = await startNatsServer({ dir, ...options });
  const machines = new Map<string, RelayMachine>();
  return {
    get server() {
      return server;
    },
    dir: folder.dir,
    tokenFile: folder.write('token', server.token),
    write: folder.write,
    machine(name, personas, more = {}) {
      const home = folder.at(name);
      mkdirSync(home, { recursive: true, mode: 0o700 });
      const made = relayMachine({ dir: home, url: server.url, personas, ...more });
      machines.set(`${name} ${machines.size}`, made);
      return made;
    },
    async restart(again = {}) {
      await server.kill();
      server = await startNatsServer({ dir, port: server.port, ...options, ...again });
    },
    async [Symbol.asyncDispose]() {
      for (const each of machines.values()) await each[Symbol.asyncDispose]();
      await server.kill();
      folder[Symbol.dispose]();
    },
  };
}
