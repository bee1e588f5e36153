import type { Board } from '../../core/board/index.ts';
import type { LocalHive } from '../../core/inbox/index.ts';
import { type Credentials, createTokenFileCredentials, parseNatsTarget } from '../../core/net/index.ts';
import { type Service, untilAborted } from '../../core/services/index.ts';
import { type Database, findOwnDirs } from '../../core/state/index.ts';
import type { InterruptionDetector } from '../../core/watch/index.ts';
import type { Settings } from '../config/tray/index.ts';
import { toNamedSessions } from '../hook/index.ts';
import type { Machine } from '../host/machine.ts';
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
 * The relay between the local hive and the NATS server of the settings; nothing without one. On the board it is a source of its own,
 * `nats`.
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
  // The room, and with it the client, only for those who have a server.
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
  // Who works here lives here, also before anything was written to them.
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

/** So long after it worked here an agent still lives here. */
const RESIDENT_MS = 30 * DAY_MS;

function isRecent({ announcedAt, endedAt, runner }: Session, now: number): boolean {
  return Math.max(announcedAt, endedAt ?? 0) >= now - RESIDENT_MS || (endedAt === null && !isProcessGone(runner));
}

/** Any name but `authorization` has the token as it is for its value. */
const PLAIN = 'nats-token';

/** As the file has it now: a connection is made seldom enough to look each time. */
function readTokenNow(credentials: Credentials): string | null {
  credentials.refresh(credentials.header());
  return credentials.header()?.value ?? null;
}
