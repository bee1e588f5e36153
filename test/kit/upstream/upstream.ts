import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type Faults, noFaults } from './faults.ts';
import type { PersonaRecord, UpstreamPersona } from './personas.ts';
import { type QueueDrain, type Signal, signalQueue } from './queue.ts';
import { type Recording, recording } from './recording.ts';
import { countRegistrations, type Registrations } from './registrations.ts';
import { signalRequests } from './requests.ts';
import { sessionStreams } from './streams.ts';

export interface UpstreamOptions {
  /** Said in `welcome`. Default 15 s. */
  readonly heartbeatMs?: number;
  /** Between two pings of a stream. Default 15 s. */
  readonly pingMs?: number;
}

/**
 * The upstream of the persona daemon for tests (persona daemon, contract 2): a real server on a loopback port with a
 * queue in memory, that records every frame and request and breaks in every way the contract names.
 */
export interface ReferenceUpstream extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`, without a slash at its end. */
  readonly url: string;
  readonly port: number;
  readonly recording: Recording;
  readonly faults: Faults;
  /** Makes it known; tokens are made up unless they are given. */
  persona(tenant: string, identity: string, tokens?: Tokens): UpstreamPersona;
  /** What `GET /v1/registrations` answers. */
  registrations(): Registrations;
  /** Closes every open stream with this code. */
  kick(code: number, retryAfterMs?: number): void;
  /** Ends every connection without a word, and listens on. */
  cut(): void;
  /** From now on nothing is read from any open connection, and nothing said: what comes in waits in the system. */
  freeze(): void;
  /** Closes the listener and every connection: the port refuses. */
  refuse(): Promise<void>;
  /** Takes back every fault, and listens again on the same port. */
  heal(): Promise<void>;
}

export interface Tokens {
  readonly observe: string;
  readonly act: string;
}

export async function referenceUpstream(options: UpstreamOptions = {}): Promise<ReferenceUpstream> {
  const { heartbeatMs = 15_000, pingMs = 15_000 } = options;
  const record = recording();
  const faults = noFaults();
  const personas: PersonaRecord[] = [];
  const sockets = new Set<Socket>();
  const timers = new Set<NodeJS.Timeout>();
  const timeOfDay = (): string => new Date(Date.now() + faults.skewMs).toISOString();
  const later = (ms: number, run: () => void): void => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      run();
    }, ms);
    timers.add(timer);
  };
  const streams = sessionStreams({ heartbeatMs, pingMs, faults, personas, put: record.put, timeOfDay });
  const registrations = (): Registrations => countRegistrations(streams.rows());
  const handle = signalRequests({ faults, personas, put: record.put, registrations, later });

  let server = await listening(0);
  async function listening(port: number): Promise<Server> {
    const made = createServer((request, response) => {
      handle(request, response).catch((error) => {
        response.statusCode = 500;
        response.end(String(error)); // seen by the test that asked
      });
    });
    made.on('upgrade', streams.upgrade);
    made.on('connection', (socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    });
    await new Promise<void>((resolve, reject) => {
      made.once('error', reject);
      made.listen(port, '127.0.0.1', resolve);
    });
    return made;
  }
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const refuse = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = new Promise((resolve) => server.close(resolve));
    cut();
    await closed;
  };

  const made = (tenant: string, identity: string, { observe, act }: Tokens): PersonaRecord => {
    const queue = signalQueue();
    let isGone = false;
    const changed = (): void => streams.tellAll(persona, { type: 'pending_changed', rev: queue.rev });
    const persona: PersonaRecord = {
      tenant,
      identity,
      observe,
      act,
      queue,
      get isGone() {
        return isGone;
      },
      signals: (count, signal: Signal = {}) =>
        Array.from({ length: count }, () => {
          const id = queue.add(signal, timeOfDay());
          changed();
          return id;
        }),
      drain: (max = 1000): QueueDrain => {
        const answer = queue.drain(max);
        const { rev, remaining } = answer;
        if (!faults.dropDrained) streams.tellAll(persona, { type: 'drained', rev, remaining });
        return answer;
      },
      send: (frame) => streams.tellAll(persona, frame),
      burst: (times) => {
        for (let i = 0; i < times; i += 1) changed();
      },
      raw: (data) => {
        for (const { socket } of streams.listGreeted(persona)) socket.send(data);
      },
      get streams() {
        return streams.listGreeted(persona).length;
      },
      remove: () => {
        isGone = true;
        streams.close(streams.listGreeted(persona), 4410);
      },
    };
    return persona;
  };

  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    recording: record,
    faults,
    persona(tenant, identity, tokens = { observe: hex(), act: hex() }) {
      const persona = made(tenant, identity, tokens);
      personas.push(persona);
      return persona;
    },
    registrations,
    kick: (code, retryAfterMs) => streams.close('all', code, retryAfterMs),
    cut,
    freeze: () => {
      faults.halfOpen = true;
      for (const socket of sockets) socket.pause();
    },
    refuse,
    heal: async () => {
      const { staleTargets } = faults;
      staleTargets.clear();
      Object.assign(faults, noFaults(), { staleTargets });
      if (!server.listening) server = await listening(port);
    },
    [Symbol.asyncDispose]: async () => {
      for (const timer of timers) clearTimeout(timer);
      await refuse();
    },
  };
}

function hex(): string {
  return randomBytes(32).toString('hex');
}
