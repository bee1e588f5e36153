import type { Board } from '../../core/board/index.ts';
import type { LocalHive } from '../../core/inbox/index.ts';
import { type Credentials, natsTarget, tokenFileCredentials } from '../../core/net/index.ts';
import { type Service, untilAborted } from '../../core/services/index.ts';
import { type Database, ownDirs } from '../../core/state/index.ts';
import type { Wakefulness } from '../../core/watch/index.ts';
import type { Settings } from '../config/tray/index.ts';
import { namedSessions } from '../hook/index.ts';
import { isProcessGone, keptSessions, type Session } from '../open/index.ts';
import type { Machine } from './machine.ts';

export interface RelayParts {
  readonly settings: Settings;
  readonly db: Database;
  readonly local: LocalHive;
  readonly board: Pick<Board, 'put'>;
  readonly wakefulness: Pick<Wakefulness, 'gaps'>;
}

const DAY_MS = 86_400_000;

/**
 * The relay between the local hive and the NATS server of the settings; nothing without one. On the board it is a source of its own,
 * `nats`.
 */
export function createRelayService(parts: RelayParts, machine: Machine): Service {
  return {
    name: 'relay',
    async run(signal) {
      await using _relay = await openRelay(parts, machine);
      await untilAborted(signal);
    },
  };
}

async function openRelay(parts: RelayParts, { clock, random, log, env }: Machine): Promise<AsyncDisposable> {
  const { settings, db, local, board, wakefulness } = parts;
  const { nats } = settings;
  if (nats === undefined) local.setElsewhere(new Set()); // without other machines, everybody lives here
  if (nats === undefined) return { [Symbol.asyncDispose]: async () => {} };
  // The room, and with it the client, only for those who have a server.
  const { RELAY, dialerOf, openLink, openMarks, outgoingOf, startRelay } = await import(
    '../../core/inbox/relay/index.ts'
  );
  const server = natsTarget(nats.url, RELAY);
  const { tokenFile } = nats;
  const credentials =
    tokenFile === undefined
      ? null
      : tokenFileCredentials({ path: tokenFile, scope: RELAY, clock, log, authHeader: PLAIN });
  const dialer = dialerOf({ server, token: () => (credentials === null ? null : tokenNow(credentials)) });
  // Who works here lives here, also before anything was written to them.
  const sessions = keptSessions(db);
  const { config } = ownDirs({ ...env });
  const announced = (): readonly string[] =>
    namedSessions(
      sessions.all().filter((session) => isRecent(session, clock.now())),
      config,
    ).map(({ persona }) => persona);
  const residents = (): readonly string[] =>
    nats.personas ?? [...announced(), ...local.elsewhere.drainedSince(clock.now() - RESIDENT_MS)];
  const relay = startRelay({
    items: local.items,
    outgoing: outgoingOf(db),
    marks: openMarks(db, random),
    personas: () => nats.personas ?? [...new Set([...local.personas().map(({ name }) => name), ...announced()])].sort(),
    residents,
    setElsewhere: local.setElsewhere,
    open: () => openLink(dialer),
    clock,
    log,
    keepMs: settings.keepMailDays * DAY_MS,
    stored: () => void local.changedElsewhere(),
    tell: (fault) => board.put({ is: 'source', at: clock.now(), source: RELAY.key, address: server.shown, fault }),
  });
  const hints = local.hints(() => relay.pushed(), 'first');
  const gaps = wakefulness.gaps(() => relay.wake());
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
function tokenNow(credentials: Credentials): string | null {
  credentials.replaced(credentials.header());
  return credentials.header()?.value ?? null;
}
