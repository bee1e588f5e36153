import { connect } from 'node:net';
import {
  type ControlSocket,
  computeDaemonPlaces,
  type DaemonConfig,
  type DaemonStatus,
  type Handlers,
  openControlSocket,
  writeDaemonConfig,
} from '../../core/link/index.ts';
import { realClock, realRandom, silentLog } from '../../core/ports/index.ts';
import { createRealDisk } from '../../core/state/index.ts';
import { until } from './until.ts';

export const STATUS: DaemonStatus = {
  pid: 4242,
  version: '1.0.0',
  uptime_s: 12,
  tenant_id: 'acme',
  identity: 'ada',
  surface: 'claude-code',
  project: 'p1',
  fsm: 'CONNECTED',
  taxonomy: 'sleeping',
  degraded: null,
  ws: { connected: true, since: '2026-07-01T00:00:00.000Z', attempts: 1 },
  shim: { state: 'none', pid: null, restarts: 0 },
  heartbeat_age_s: 3,
  drain_age_s: 12,
  pending: { count: 2, rev: 7, fresh: true },
  outstanding: null,
  last_error_class: null,
  transitions: [{ at: '2026-07-01T00:00:00.000Z', from: 'RECONCILING', to: 'CONNECTED', why: 'peek_ok' }],
  metrics: 'daemon_up 1\n',
};

/** The places of a daemon whose state is in `home`. */
export const placesIn = (home: string, tenant = 'acme', identity = 'ada') =>
  computeDaemonPlaces(
    { tenant, identity },
    {
      platform: 'linux',
      env: { HIVEBAR_HOME: home },
      home: '/nowhere',
      cwd: '/',
      uid: process.getuid?.() ?? null,
      temp: '/tmp',
    },
  );

/** What was installed for ada of acme, whose upstream is the hive of the machine. */
export const ADA_CONFIG: DaemonConfig = {
  ...{ tenant: 'acme', identity: 'ada', address: 'ada', project: '/p', surface: 'claude-code', autonomy: null },
  ...{ upstream: 'local', wakeIdle: false, owner: 'launcher', shim: null },
  ...{ installDeps: false, activateVenv: false, paused: false },
};

/** As `daemon install` leaves it in `home`, without tokens. */
export function configIn(home: string, config: Partial<DaemonConfig> = {}): DaemonConfig {
  const whole = { ...ADA_CONFIG, ...config };
  writeDaemonConfig(createRealDisk(silentLog), realRandom, placesIn(home, whole.tenant, whole.identity), whole);
  return whole;
}

/** Handlers that note what they were called with; `over` replaces some. */
export function notingHandlers(over: Partial<Handlers> = {}): {
  readonly handlers: Handlers;
  readonly calls: string[];
} {
  const calls: string[] = [];
  const handlers: Handlers = {
    status: () => STATUS,
    async notify(turnBoundary, isRead) {
      calls.push(`notify ${JSON.stringify(turnBoundary)}`);
      void isRead.then((read) => calls.push(`read ${read}`));
      return { emitted: turnBoundary !== null, why: turnBoundary === null ? 'queued' : 'rung' };
    },
    async resume() {
      calls.push('resume');
    },
    shutdown: (reason, deadlineMs) => void calls.push(`shutdown ${reason} ${deadlineMs}`),
    refused: (error) => void calls.push(error),
    ...over,
  };
  return { handlers, calls };
}

/** An open control socket with a daemon that is none behind it. */
export async function linkIn(home: string, handlers: Handlers, identity = 'ada'): Promise<ControlSocket> {
  const disk = createRealDisk(silentLog);
  return await openControlSocket({
    places: placesIn(home, 'acme', identity),
    disk,
    random: realRandom,
    clock: realClock,
    handlers,
  });
}

/** A connection that says what a test likes. */
export interface Wire extends Disposable {
  say(text: string | Uint8Array): void;
  /** Everything that came so far. */
  text(): string;
  isOver(): boolean;
  /** Waits for so many lines in all. */
  lines(count: number): Promise<readonly Record<string, unknown>[]>;
  over(): Promise<void>;
  /** Ends our side and waits for the other. */
  hangUp(): void;
}

/** @param how `deaf` takes nothing from the socket, so that what comes stays unread in the system */
export function wireTo(socket: string, how: 'reads' | 'deaf' = 'reads'): Wire {
  const peer = connect({ path: socket, allowHalfOpen: true });
  let text = '';
  let isOver = false;
  if (how === 'deaf') peer.pause();
  else {
    peer.on('data', (chunk) => {
      text += chunk.toString('utf8');
    });
  }
  peer.on('error', () => {}); // `close` follows, which is what is waited for
  peer.on('end', () => peer.end());
  peer.on('close', () => {
    isOver = true;
  });
  const lines = (): string[] => text.split('\n').slice(0, -1);
  return {
    say: (fields) => void peer.write(fields),
    text: () => text,
    isOver: () => isOver,
    async lines(count) {
      await until(
        () => `${count} lines, there are: ${text}`,
        () => lines().length >= count || isOver,
      );
      return lines().map((line) => JSON.parse(line) as Record<string, unknown>);
    },
    over: () =>
      until(
        () => `the end of the connection, which said: ${text}`,
        () => isOver,
      ),
    hangUp: () => void peer.end(),
    [Symbol.dispose]: () => void peer.destroy(),
  };
}
