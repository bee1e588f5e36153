import type { Board } from '../../core/board/index.ts';
import type { LocalHive } from '../../core/inbox/index.ts';
import { type Credentials, createTokenFileCredentials, parseNatsTarget } from '../../core/net/index.ts';
import { type Service, untilAborted } from '../../core/services/index.ts';
import { type Database, findOwnDirs } from '../../core/state/index.ts';
import type { InterruptionDetector } from '../../core/watcher/index.ts';
import type { Settings } from '../config/tray/index.ts';
import { toNamedSessions } from '../hook/index.ts';
import type { Machine } from '../host/machine.node.ts';
import { isProcessGone, openSessionStore, type Session } from '../open/index.ts';

export interface RelayServiceParts {
  readonly settings: Settings;
  readonly db: Database;
  readonly local: LocalHive;
  readonly board: Pick<Board, 'put'>;
  readonly interruptions: Pick<InterruptionDetector, 'onInterruption'>;
}

const DAY_MS = 86_400_000;

/**
 * Runs the relay between the local hive and the NATS server of the settings, or nothing without a server. On the board it is a
 * source of its own, `nats`.
 */
export function createRelayService(parts: RelayServiceParts, machine: Machine): Service {
  return {
    name: 'relay',
    async run(signal) {
      await using _relay = await openRelay(parts, machine);
      await untilAborted(signal);
    },
  };
}

async function openRelay(parts: RelayServiceParts, { clock, random, log, env }: Machine): Promise<AsyncDisposable> {
  const { settings, db, local, board, interruptions: wakefulness } = parts;
  const { nats } = settings;
  if (nats === undefined) local.setElsewhere(new Set()); // without other machines, everybody lives here
  if (nats === undefined) return { [Symbol.asyncDispose]: async () => {} };
  // Imported only where a server is set, because it loads the NATS client.
  const { RELAY, createDialer, openRelayLink, openRelayCheckpoints, openOutgoingItems, startRelay } = await import(
    '../../core/inbox/relay/index.ts'
  );
  const server = parseNatsTarget(nats.url, RELAY);
  const { tokenFile } = nats;
  const credentials =
    tokenFile === undefined
      ? null
      : createTokenFileCredentials({ path: tokenFile, scope: RELAY, clock, log, authHeader: PLAIN });
  const dialer = createDialer({ server, token: () => (credentials === null ? null : readTokenNow(credentials)) });
  // A persona with a session on this machine lives here, even before anything was written to it.
  const sessions = openSessionStore(db);
  const { config } = findOwnDirs({ ...env });
  const announced = (): readonly string[] =>
    toNamedSessions(
      sessions.listAll().filter((session) => isRecent(session, clock.now())),
      config,
    ).map(({ persona }) => persona);
  const residents = (): readonly string[] =>
    nats.personas ?? [...announced(), ...local.elsewhere.drainedSince(clock.now() - RESIDENT_MS)];
  const relay = startRelay({
    items: local.items,
    outgoing: openOutgoingItems(db),
    checkpoints: openRelayCheckpoints(db, random),
    personas: () => nats.personas ?? [...new Set([...local.personas().map(({ name }) => name), ...announced()])].sort(),
    residents,
    setElsewhere: local.setElsewhere,
    open: () => openRelayLink(dialer),
    clock,
    log,
    retentionMs: settings.keepMailDays * DAY_MS,
    stored: () => void local.changedElsewhere(),
    tell: (fault) => board.put({ is: 'source', at: clock.now(), source: RELAY.key, address: server.display, fault }),
  });
  const hints = local.hints(() => relay.pushed(), 'first');
  const gaps = wakefulness.onInterruption(() => relay.wake());
  return {
    async [Symbol.asyncDispose]() {
      gaps[Symbol.dispose]();
      hints[Symbol.dispose]();
      await relay[Symbol.asyncDispose]();
    },
  };
}

/** An agent counts as living here for this long after it last worked here. */
const RESIDENT_MS = 30 * DAY_MS;

function isRecent({ announcedAt, endedAt, runner }: Session, now: number): boolean {
  return Math.max(announcedAt, endedAt ?? 0) >= now - RESIDENT_MS || (endedAt === null && !isProcessGone(runner));
}

/** With any header name but `authorization`, the value is the token as it is. */
const PLAIN = 'nats-token';

/** Reads the token from its file now. Connections are made so seldom that reading it each time is fine. */
function readTokenNow(credentials: Credentials): string | null {
  credentials.refresh(credentials.header());
  return credentials.header()?.value ?? null;
}
