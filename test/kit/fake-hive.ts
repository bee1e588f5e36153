import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { breakAnswer, type HiveFault, plain, send } from './fake-hive-faults.ts';
import { holdPort } from './held-port.ts';

export type { HiveFault };

/** A row as the hive stores and serves it. */
export interface HiveRow {
  id: number;
  from: string;
  content: unknown;
  created: string;
  read: boolean;
}

export interface Mail {
  readonly from?: string;
  readonly content?: unknown;
  readonly urgent?: boolean;
  readonly created?: string;
  /** Takes this id instead of the next one. */
  readonly id?: number;
}

export type Endpoint = 'inbox' | 'pending' | 'personas' | 'send';

/** What a fault is limited to; nothing named is everything. */
export interface Where {
  readonly persona?: string;
  readonly endpoint?: Endpoint;
}

export interface HiveRequest {
  readonly at: number;
  readonly method: string;
  readonly url: string;
  readonly endpoint: Endpoint | 'other';
  readonly persona: string | null;
  readonly headers: IncomingHttpHeaders;
}

/** 127.0.0.2 is on every Linux; elsewhere it must be given to the interface first. */
export type Loopback = '127.0.0.1' | '127.0.0.2' | '::1';

export interface FakeHiveOptions {
  readonly personas?: readonly string[];
  /** Rows in a window, with the window fields; `legacy` serves every row and has no such fields. Default 100. */
  readonly window?: number | 'legacy';
  /** `absent` answers 404; `plain` never holds and gives no cursor. Default `long-poll`. */
  readonly pending?: 'long-poll' | 'plain' | 'absent';
  /** Asked of every request when given. */
  readonly token?: string;
  /** Answers 403 to unnamed and library agents, as the hosted service does. */
  readonly namedAgentsOnly?: boolean;
  readonly host?: Loopback;
  readonly port?: number;
}

/**
 * A hive for tests: a real server on a loopback port that speaks the contract of the Kijito inbox, its traps included
 * (a GET without `mark_read=false` marks what it returns as read), and that breaks in every way a server can.
 */
export interface FakeHive extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`, without a slash at its end. */
  readonly url: string;
  readonly port: number;
  /** Every request so far, oldest first. */
  readonly requests: HiveRequest[];
  asked(endpoint: Endpoint): readonly HiveRequest[];
  addPersona(name: string): void;
  /** Adds a persona it does not know. @returns the id, which rises across the whole hive */
  deliver(persona: string, mail?: Mail): number;
  /** All of them, or these ids. */
  markRead(persona: string, ids?: readonly number[]): void;
  listRows(persona: string): readonly HiveRow[];
  /** What `happen` does is one change: no answer and no held list sees a part of it. */
  together(happen: () => void): void;
  /** Every inbox is empty, and ids begin again at 1: another hive under the same address. */
  startAgain(): void;
  /** From now on; a later call wins over an earlier one. */
  fail(fault: HiveFault, where?: Where): void;
  /** Closes the listener and every connection: the port refuses, and nobody else gets it. */
  refuse(): Promise<void>;
  /** Goes away here, connections included, and is there at another address, on the same port. */
  move(host: Loopback): Promise<void>;
  /** Asked of every request from now on; null: of none. */
  setToken(token: string | null): void;
  /** Takes back every fault, and listens again on the same port. */
  heal(): Promise<void>;
}

interface InboxStore {
  readonly rows: HiveRow[];
  readonly urgent: Set<number>;
}

export async function fakeHive(options: FakeHiveOptions = {}): Promise<FakeHive> {
  const { window = 100, pending = 'long-poll' } = options;
  let host: Loopback = options.host ?? '127.0.0.1';
  let token = options.token ?? null;
  const inboxes = new Map<string, InboxStore>();
  const requests: HiveRequest[] = [];
  let faults: { readonly fault: HiveFault; readonly where: Where }[] = [];
  let lastId = 0;
  let version = 0;
  const held = new Set<() => void>();
  const sockets = new Set<Socket>();
  const timers = new Set<NodeJS.Timeout>();

  const findInbox = (persona: string): InboxStore => {
    const inbox = inboxes.get(persona) ?? { rows: [], urgent: new Set<number>() };
    inboxes.set(persona, inbox);
    return inbox;
  };
  let isTogether = false;
  const moved = (): void => {
    if (isTogether) return;
    version += 1;
    for (const wake of [...held]) wake();
  };
  const later = (ms: number, run: () => void): NodeJS.Timeout => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      run();
    }, ms);
    timers.add(timer);
    return timer;
  };
  const deliver = (persona: string, mail: Mail = {}): number => {
    const id = mail.id ?? lastId + 1;
    lastId = Math.max(lastId, id);
    const inbox = findInbox(persona);
    const { from = 'river', content = `mail ${id}`, created = new Date().toISOString() } = mail;
    inbox.rows.push({ id, from, content, created, read: false });
    if (mail.urgent) inbox.urgent.add(id);
    moved();
    return id;
  };

  const inboxAnswer = (url: URL): Record<string, unknown> => {
    const { rows } = findInbox(url.searchParams.get('persona') ?? '');
    const before = url.searchParams.get('before_id');
    const eligible = rows.filter((row) => before === null || row.id < Number(before)).toSorted((a, b) => a.id - b.id);
    const size =
      window === 'legacy' ? eligible.length : Math.min(window, Number(url.searchParams.get('limit') ?? window));
    const shown = size === 0 ? [] : eligible.slice(-size);
    const result = shown.map((row) => ({ ...row }));
    if (url.searchParams.get('mark_read') !== 'false') {
      for (const row of shown) row.read = true;
      moved();
    }
    if (window === 'legacy') return { result };
    const isShort = shown.length < eligible.length;
    const unreadShown = result.filter((row) => !row.read).length;
    return {
      result,
      truncated: isShort,
      size_dropped: 0,
      size_truncated: false,
      next_before_id: isShort ? (shown[0]?.id ?? null) : null,
      unread_not_shown: isShort ? Math.max(0, rows.filter((row) => !row.read).length - unreadShown) : 0,
    };
  };
  const pendingAnswer = (url: URL): Record<string, unknown> => {
    const result = [...inboxes].flatMap(([persona, { rows, urgent }]) => {
      const unread = rows.filter((row) => !row.read && row.from !== persona); // own mail is not unread for oneself
      if (unread.length === 0) return [];
      return [{ persona, unread: unread.length, unread_urgent: unread.filter((row) => urgent.has(row.id)).length }];
    });
    const holds = pending === 'long-poll' && url.searchParams.has('wait');
    return holds ? { result, cursor: `v${version}` } : { result };
  };
  const answerTo = (endpoint: Endpoint, url: URL): Record<string, unknown> => {
    if (endpoint === 'inbox') return inboxAnswer(url);
    if (endpoint === 'pending') return pendingAnswer(url);
    return { result: [...inboxes.keys()].map((persona) => ({ persona })) };
  };

  /** Runs once the hive has moved past the cursor of the request, or its wait is over. */
  const whenMoved = (url: URL, response: ServerResponse, run: () => void): void => {
    const wait = Number(url.searchParams.get('wait') ?? 0);
    if (pending !== 'long-poll' || wait <= 0 || url.searchParams.get('cursor') !== `v${version}`) {
      run();
      return;
    }
    const end = (): void => {
      clearTimeout(timer);
      timers.delete(timer);
      held.delete(end);
      if (!response.destroyed) run();
    };
    const timer = later(wait * 1000, end);
    held.add(end);
    response.on('close', end);
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://hive');
    const endpoint = toEndpoint(url.pathname);
    const persona = url.searchParams.get('persona');
    const { method = 'GET', headers } = request;
    requests.push({ at: performance.now(), method, url: request.url ?? '', endpoint, persona, headers });
    if (options.namedAgentsOnly && /^(undici|node|python|$)/i.test(headers['user-agent'] ?? ''))
      return plain(response, 403);
    if (token !== null && headers.authorization !== `Bearer ${token}`) return plain(response, 401);
    const fault = faults.findLast(
      ({ where }) =>
        (where.endpoint ?? endpoint) === endpoint && (where.persona === undefined || where.persona === persona),
    )?.fault;
    if (endpoint === 'other' || (endpoint === 'pending' && pending === 'absent')) return plain(response, 404);
    if (endpoint === 'send') {
      const mail = JSON.parse(await readBody(request)) as Mail & { to: string };
      const id = deliver(mail.to, mail);
      return send(response, { result: { id, to: mail.to } });
    }
    const answer = (): Record<string, unknown> => answerTo(endpoint, url);
    if (fault === undefined || fault.is === 'edit') {
      const edit = fault?.is === 'edit' ? fault.edit : (whole: unknown) => whole;
      const run = (): void => send(response, edit(answer(), url));
      if (endpoint === 'pending') whenMoved(url, response, run);
      else run();
      return;
    }
    breakAnswer(fault, response, () => JSON.stringify(answer()), later);
  };

  let server: Server = await listening();
  async function listening(port = options.port ?? 0): Promise<Server> {
    const made = createServer((request, response) => {
      handle(request, response).catch((error) => {
        response.statusCode = 500;
        response.end(String(error)); // seen by the test that asked
      });
    });
    made.on('connection', (socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    });
    await new Promise<void>((resolve, reject) => {
      made.once('error', reject);
      made.listen(port, host, resolve);
    });
    return made;
  }
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };

  let heldPort: Disposable | null = null;
  const release = (): void => {
    heldPort?.[Symbol.dispose]();
    heldPort = null;
  };

  const { port } = server.address() as AddressInfo;
  for (const persona of options.personas ?? []) findInbox(persona);
  return {
    url: `http://${host === '::1' ? '[::1]' : host}:${port}`,
    port,
    requests,
    asked: (endpoint) => requests.filter((request) => request.endpoint === endpoint),
    addPersona: (name) => void findInbox(name),
    deliver,
    markRead: (persona, ids) => {
      for (const row of findInbox(persona).rows) if (ids === undefined || ids.includes(row.id)) row.read = true;
      moved();
    },
    listRows: (persona) => findInbox(persona).rows,
    together: (happen) => {
      isTogether = true;
      happen();
      isTogether = false;
      moved();
    },
    startAgain: () => {
      for (const { rows, urgent } of inboxes.values()) {
        rows.length = 0;
        urgent.clear();
      }
      lastId = 0;
      moved();
    },
    fail: (fault, where = {}) => void faults.push({ fault, where }),
    async refuse() {
      await close();
      heldPort ??= await holdPort(port, host);
    },
    move: async (to) => {
      await close();
      release();
      host = to;
      server = await listening(port);
    },
    setToken: (next) => {
      token = next;
    },
    heal: async () => {
      faults = [];
      release();
      if (!server.listening) server = await listening(port);
    },
    [Symbol.asyncDispose]: async () => {
      await close();
      release();
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

function toEndpoint(path: string): Endpoint | 'other' {
  switch (path) {
    case '/api/inbox':
      return 'inbox';
    case '/api/notify/pending':
      return 'pending';
    case '/api/personas':
      return 'personas';
    case '/api/send':
      return 'send';
    default:
      return 'other';
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
