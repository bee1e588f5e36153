import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Devices, openDevices } from '../../app/host/devices.ts';
import { createItemsApi } from '../../app/local/items-api.ts';
import { openSearch } from '../../app/local/mail-search.ts';
import { createLocalMailbox } from '../../app/local/mailbox-api.ts';
import { createPermissions, type Permissions } from '../../app/local/permissions.ts';
import { createSettingsApi } from '../../app/program/settings-api.ts';
import {
  type ActionTable,
  loadPage,
  type StatusOptions,
  type StatusServer,
  startStatusServer,
} from '../../app/status/index.ts';
import { type Board, createBoard, type Fact } from '../../core/board/index.ts';
import { type MailEvent, toMailEventId } from '../../core/events/index.ts';
import { openHistory } from '../../core/history/index.ts';
import { type Decisions, openDecisions, waitForDecision } from '../../core/inbox/decisions/index.ts';
import { type LocalHive, openLocalHive } from '../../core/inbox/index.ts';
import { createRegistrations, openSignals, type Registrations } from '../../core/inbox/signals/index.ts';
import { AGENT_STATE_NOT_REPORTED, exactly, Fault } from '../../core/model/index.ts';
import { realClock, realClocks, realFiles, realRandom, silentLog } from '../../core/ports/index.ts';
import { supervise } from '../../core/services/index.ts';
import { type Outbox, openOutbox } from '../../core/sinks/outbox/index.ts';
import { createRealDisk, type Database, openDatabase } from '../../core/state/index.ts';
import { labProject } from './lab-project.ts';

export const TOKEN = 'correct-horse-battery-staple';

/** A status server on real sockets with a real local hive, outbox and board, in a directory of its own. */
export interface StatusRig extends AsyncDisposable {
  readonly server: StatusServer;
  readonly port: number;
  readonly board: Board;
  readonly hive: LocalHive;
  readonly decisions: Decisions;
  /** The prompts of hooks, each of the persona that it names. */
  readonly permissions: Permissions;
  readonly registrations: Registrations;
  readonly devices: Devices;
  readonly outbox: Outbox<object>;
  readonly db: Database;
  readonly dir: string;
  readonly socketPath: string;
  /** Commits mail to the persona's outbox, and puts it on the board when it is told. */
  mail(persona: string, ...ids: number[]): Promise<void>;
  /** The same with `count` messages of about 4 KB in one commit. */
  bulk(persona: string, first: number, count: number): Promise<void>;
  join(persona: string, label?: string, source?: string): void;
  poll(persona: string, unread: number, urgent?: number): void;
  down(persona: string, key?: string): void;
}

export async function statusRig(over: Partial<StatusOptions> = {}): Promise<StatusRig> {
  const dir = mkdtempSync(join(tmpdir(), 'hb-status-'));
  const run = join(dir, 'run');
  mkdirSync(run, { mode: 0o700 });
  const socketPath = join(run, 'hivebar.sock');
  const db = openDatabase(join(dir, 'hivebar.sqlite'));
  const disk = createRealDisk(silentLog);
  const hive = openLocalHive({ db, clock: realClock, log: silentLog, contentChars: 220 });
  const decisions = openDecisions({
    db,
    items: hive.items,
    gates: { open: () => {}, close: () => {}, waiting: () => {} },
    wake: () => {},
    emit: () => {},
    clock: realClock,
    log: silentLog,
  });
  const outbox = openOutbox<object>({
    db,
    disk,
    clock: realClock,
    clocks: realClocks,
    directory: join(dir, 'events'),
    journal: join(dir, 'outbox.journal'),
    onBehind: () => {},
  });
  const board = createBoard();
  const history = openHistory({
    path: join(dir, 'history.sqlite'),
    files: realFiles,
    clock: realClock,
    log: silentLog,
    keepDays: 30,
  });
  board.facts(history.hear);
  const devices = openDevices(dir, {
    disk,
    random: realRandom,
    clock: over.clock ?? realClock,
    log: over.log ?? silentLog,
  });
  const put = (fact: Fact): void => board.put(fact);
  const sinks = new Map<string, ReturnType<typeof outbox.sinkFor>>();
  const cleanUp = (): void => {
    registrations[Symbol.dispose]();
    search[Symbol.dispose]();
    signals[Symbol.dispose]();
    hive[Symbol.dispose]();
    history[Symbol.dispose]();
    outbox[Symbol.dispose]();
    db[Symbol.dispose]();
    rmSync(dir, { recursive: true });
  };
  const signals = openSignals({ db, local: hive, clock: realClock, log: silentLog });
  const registrations = createRegistrations({
    clock: realClock,
    newId: () => realRandom.hex(8),
    expected: [],
    sessions: () => [],
  });
  const search = openSearch(
    {
      ...{ directory: dir, db, delivered: outbox.delivered, toPersonaId: (name) => name },
      isLocal: (persona) => hive.personas().some(({ name }) => name === persona),
    },
    { disk, clock: over.clock ?? realClock, log: silentLog },
  );
  const permissions = createPermissions(
    { board, isOn: () => true, findPersona: (persona) => persona },
    { clock: realClock, log: silentLog, random: realRandom },
  );
  const server = await startStatusServer({
    board,
    hive,
    actions: ACTIONS,
    items: createItemsApi(
      { db, local: hive, dirs: { state: dir, config: join(dir, 'config') } },
      { disk, clock: over.clock ?? realClock, random: realRandom, log: silentLog },
    ),
    decisions: {
      ...decisions,
      wait: (id, limitMs, signal) => waitForDecision(id, { decisions, clock: realClock, limitMs, signal }),
    },
    permissions,
    mcp: null,
    projects: () => [labProject()],
    signals: { signals, registrations },
    keys: { all: () => [] },
    events: outbox,
    history,
    findMarks: hive.findMarks,
    listStored: createLocalMailbox({ local: hive, toName: (persona) => persona }).listStored,
    mail: search,
    page: loadPage(),
    token: TOKEN,
    devices,
    settings: createSettingsApi(join(dir, 'config'), { reload: async () => ({ applied: [], atNextStart: [] }) }),
    tokenEverywhere: false,
    port: 0,
    socketPath,
    version: '0.0.0-test',
    instance: { id: 'cafe', pid: process.pid },
    clock: realClock,
    log: silentLog,
    ...over,
  }).catch((error: unknown) => {
    cleanUp();
    throw error;
  });
  const supervisor = supervise({ clock: over.clock ?? realClock, log: silentLog, report: () => {} });
  for (const service of [history.service, ...server.services]) supervisor.add(service);
  const tell = async (persona: string, events: readonly MailEvent[]): Promise<void> => {
    let sink = sinks.get(persona);
    if (sink === undefined) {
      sink = outbox.sinkFor(persona, persona.replaceAll(/[^a-z0-9]/g, '_'));
      sinks.set(persona, sink);
      await sink.open();
    }
    await sink.take(events, {}, new AbortController().signal);
    put({ is: 'delivered', at: Date.now(), persona, events });
  };
  return {
    server,
    port: server.port,
    board,
    hive,
    decisions,
    permissions,
    registrations,
    devices,
    outbox,
    db,
    dir,
    socketPath,
    mail: (persona, ...ids) =>
      tell(
        persona,
        ids.map((id) => createMail(persona, id)),
      ),
    bulk: (persona, first, count) => {
      const content = 'x'.repeat(4000);
      return tell(
        persona,
        Array.from({ length: count }, (_, i) => ({ ...createMail(persona, first + i), content })),
      );
    },
    join: (persona, label = persona, source = 'local') =>
      put({
        is: 'joined',
        at: Date.now(),
        persona,
        source,
        address: persona,
        label,
        stem: persona,
        eventsFile: `/tmp/hivebar/events.${persona}.ndjson`,
        lastEventId: null,
        staleAfterMs: 90_000,
      }),
    poll: (persona, unread, urgent = 0) => {
      const at = Date.now();
      const counts = { unread: exactly(unread), urgent: exactly(urgent) };
      put({
        is: 'polled',
        at,
        persona,
        health: { is: 'up', since: at },
        ...counts,
        agentState: AGENT_STATE_NOT_REPORTED,
        cursor: 1,
      });
    },
    down: (persona, key = 'http://127.0.0.1:7474') => {
      const at = Date.now();
      const fault = new Fault('refused', `connect to ${key} was refused`, { is: 'source', key });
      put({ is: 'failed', at, persona, fault, health: { is: 'down', since: at, failures: 3, why: 'refused' } });
    },
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await supervisor[Symbol.asyncDispose]();
      cleanUp();
    },
  };
}

type Action = Parameters<Parameters<ActionTable['forEach']>[0]>[0];

const NO_PARAMS = { title: 'Is tried out', params: {} };

const ACTIONS: ActionTable = new Map<string, Action>([
  ['echo', { ...NO_PARAMS, asks: 'token', run: async (params: unknown) => ({ params }) }],
  [
    'wait',
    {
      ...NO_PARAMS,
      asks: 'token',
      run: (_: unknown, signal: AbortSignal) => new Promise((done) => signal.addEventListener('abort', done)),
    },
  ],
  [
    'picky',
    {
      ...NO_PARAMS,
      asks: 'token',
      run: async () => {
        throw new Fault('usage', 'persona "zo" is not watched', { is: 'machine', key: 'action' });
      },
    },
  ],
  ['lasting', { ...NO_PARAMS, asks: 'run-token', run: async () => ({}) }],
]);

export function createMail(persona: string, id: number): MailEvent {
  return {
    event: 'new',
    source: 'kijito-inbox',
    ts: '2026-06-20T10:00:00.000000+00:00',
    id,
    from: 'SECRET-SENDER',
    created: '2026-06-20T09:59:59.000000+00:00',
    persona,
    content: `SECRET-TEXT ${id}`,
    event_id: toMailEventId(persona, id),
    wake_class: 'mail',
  };
}

const FIRST_BYTE_MS = 5000;

function isWhole(text: string): boolean {
  const split = text.indexOf('\r\n\r\n');
  const length = /^content-length: (\d+)$/im.exec(text.slice(0, split))?.[1];
  return split >= 0 && length !== undefined && Buffer.byteLength(text) >= split + 4 + Number(length);
}

export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/**
 * Writes these bytes to a port or socket path and reads the answer: until it is whole by its own length, or the far end
 * closes, else for `ms`. The first byte is waited for longer, since a busy machine is no refusal.
 */
export function raw(to: number | string, bytes: string, ms = 300): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = typeof to === 'number' ? connect(to, '127.0.0.1') : connect(to);
    let text = '';
    const done = (): void => {
      clearTimeout(timer);
      socket.destroy();
      const split = text.indexOf('\r\n\r\n');
      const head = split < 0 ? text : text.slice(0, split);
      const body = split < 0 ? '' : text.slice(split + 4);
      resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1] ?? 0), head, body });
    };
    let timer = setTimeout(done, Math.max(ms, FIRST_BYTE_MS));
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      if (text === '') {
        clearTimeout(timer);
        timer = setTimeout(done, ms);
      }
      text += chunk;
      if (isWhole(text)) done();
    });
    socket.on('close', done);
    socket.on('error', reject);
    socket.write(bytes);
  });
}
