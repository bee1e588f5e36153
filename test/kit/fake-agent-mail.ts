import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { breakAnswer, type HiveFault, plain, send } from './fake-hive-faults.ts';

/** A message as the server stores it. */
export interface StoredMail {
  id: number;
  readonly project: string;
  readonly sender: string;
  readonly subject: string;
  readonly body: string;
  readonly importance: string;
  /** Microseconds since 1970. */
  readonly createdTs: number;
  readonly readBy: Map<string, boolean>;
}

export interface AgentMailDraft {
  readonly to: readonly string[];
  readonly from?: string;
  readonly subject?: string;
  readonly body?: string;
  readonly importance?: string;
  readonly project?: string;
  readonly createdTs?: number;
}

type MailRoute = 'inbox' | 'agents' | 'liveness' | 'readiness';

export interface FakeAgentMailOptions {
  /** `python`: an older server, which does not say who has read what. Default `rust`. */
  readonly server?: 'rust' | 'python';
  /** Asked of every request but liveness when given. */
  readonly token?: string;
  readonly port?: number;
  /** The directory of signal files; absent: they are off, as they are by default. */
  readonly signals?: string;
}

/**
 * A stand-in for an MCP Agent Mail server, because the real one cannot run in a test: it serves the routes that a watcher may call,
 * in the form of `test/data/amail/unified-inbox.json`. Whatever else is asked of it fails the test at its end: another route, another
 * method, or a header that a plain GET does not have.
 */
export interface FakeAgentMail extends AsyncDisposable {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  readonly port: number;
  /** Every request, as `GET /path?query`. */
  readonly requests: string[];
  /** What no watcher may ask. */
  readonly violations: readonly string[];
  /** The largest number of requests that ran at the same time. */
  readonly mostAtOnce: number;
  readonly mail: StoredMail[];
  addProject(slug: string, folder: string): void;
  addAgent(name: string, project?: string): void;
  removeAgent(name: string, project?: string): void;
  deliver(draft: AgentMailDraft): number;
  markRead(name: string, ids?: readonly number[]): void;
  remove(...ids: readonly number[]): void;
  /** Builds the store again: the same messages from 1 on, all of them unread, for an archive holds no read state. */
  rebuild(): void;
  readonly agentNames: () => readonly string[];
  /** The bytes of an answer with the newest messages. */
  format(limit?: number): Buffer;
  fail(fault: HiveFault, route?: MailRoute): void;
  setToken(token: string | null): void;
  /** From now on a person may mark mail as read, by POST. */
  allowMarks(): void;
  /** Fields beside the messages of each answer. */
  setExtra(extra: Record<string, unknown>): void;
  refuse(): Promise<void>;
  heal(): Promise<void>;
}

/** The project when a call names none. */
export const PROJECT = 'home-user-p';
const HEADERS: ReadonlySet<string> = new Set(['host', 'connection', 'user-agent', 'accept', 'accept-encoding']);
const FIRST_TS = Date.UTC(2026, 7, 22, 10) * 1000;

export async function fakeAgentMail(options: FakeAgentMailOptions = {}): Promise<FakeAgentMail> {
  const isRust = options.server !== 'python';
  const projects = new Map<string, { readonly folder: string; readonly agents: Set<string> }>();
  const mail: StoredMail[] = [];
  const requests: string[] = [];
  const violations: string[] = [];
  let token = options.token ?? null;
  let extra: Record<string, unknown> = {};
  let faults: { readonly fault: HiveFault; readonly route: MailRoute | undefined }[] = [];
  let lastId = 0;
  let lastTs = FIRST_TS;
  let running = 0;
  let takesMarks = false;
  let mostAtOnce = 0;
  const sockets = new Set<Socket>();
  const timers = new Set<NodeJS.Timeout>();

  const findProject = (slug: string) => {
    const project = projects.get(slug) ?? { folder: `/${slug.replaceAll('-', '/')}`, agents: new Set<string>() };
    projects.set(slug, project);
    return project;
  };

  function toJson({ id, project, sender, subject, body, importance, createdTs, readBy }: StoredMail): unknown {
    const created = new Date(createdTs / 1000).toISOString();
    const names = [...readBy.keys()];
    const common = {
      ...{
        id,
        subject,
        body_md: body,
        body_length: body.length,
        excerpt: body.slice(0, 150),
        importance,
        thread_id: 'br-1',
      },
      ...{ created_full: '', created_relative: 'now', sender, recipients: names.join(', ') },
      ...{ project_slug: project, project_name: findProject(project).folder },
    };
    if (!isRust) return { ...common, created_ts: created.replace('T', ' ').replace('Z', '000'), read: false };
    return {
      ...{ ...common, body_html: '', created, created_ts: createdTs, recipient_names: names },
      ...{ recipient_read: Object.fromEntries(readBy), read: [...readBy.values()].every((is) => is) },
    };
  }

  function toAnswer(limit: number, withProjects: boolean): Record<string, unknown> {
    const newest = mail.toSorted((a, b) => b.createdTs - a.createdTs || b.id - a.id).slice(0, Math.min(1000, limit));
    const messages = newest.map(toJson);
    const listed = [...projects].map(([slug, { folder }], index) => ({
      ...{ id: index + 1, slug, human_key: folder, created_at: '2026-08-22T10:00:00Z' },
      ...(isRust ? {} : { archived_at: null }),
    }));
    if (!isRust) return { messages, projects: withProjects ? listed : [], ...extra };
    return { messages, ...(withProjects ? { projects: listed } : {}), ...extra };
  }

  function handle(request: IncomingMessage, response: ServerResponse): void {
    running += 1;
    mostAtOnce = Math.max(mostAtOnce, running);
    response.on('close', () => {
      running -= 1;
    });
    const { method = '', headers } = request;
    const url = new URL(request.url ?? '/', 'http://server');
    requests.push(`${method} ${request.url}`);
    const [, slug, name] = /^\/mail\/([^/]+)\/inbox\/([^/]+)\/mark-read$/.exec(url.pathname) ?? [];
    if (takesMarks && method === 'POST' && slug !== undefined && name !== undefined) {
      takeMarks(slug, name, request, response);
      return;
    }
    const route = toRoute(url);
    const problem = findViolation(method, url, route, headers, isRust);
    if (problem !== null || route === null) {
      violations.push(`${method} ${request.url}: ${problem}`);
      plain(response, route === null ? 404 : 405);
      return;
    }
    if (token !== null && route !== 'liveness' && headers.authorization !== `Bearer ${token}`) plain(response, 401);
    else answerRequest(route, url, response);
  }

  function takeMarks(slug: string, name: string, request: IncomingMessage, response: ServerResponse): void {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { message_ids: ids } = JSON.parse(Buffer.concat(parts).toString('utf8')) as { message_ids: number[] };
      if (token !== null && request.headers.authorization !== `Bearer ${token}`) plain(response, 401);
      else if (ids.length === 0 || ids.length > 500) plain(response, 400);
      else {
        for (const { id, project, readBy } of mail)
          if (project === slug && ids.includes(id) && readBy.has(name)) readBy.set(name, true);
        send(response, { success: true, updated: ids.length });
      }
    });
  }

  function answerRequest(route: MailRoute, url: URL, response: ServerResponse): void {
    const answer = (): Record<string, unknown> => toRouteAnswer(route, url);
    const fault = faults.findLast((each) => (each.route ?? route) === route)?.fault;
    if (fault === undefined) send(response, answer());
    else if (fault.is === 'edit') send(response, fault.edit(answer(), url));
    else breakAnswer(fault, response, () => JSON.stringify(answer()), later);
  }

  function toRouteAnswer(route: MailRoute, url: URL): Record<string, unknown> {
    if (route === 'liveness') return { status: 'alive' };
    if (route === 'readiness') return { status: 'ready' };
    if (route === 'agents') return { agents: [...findProject(url.pathname.split('/')[4] ?? '').agents].sort() };
    const { searchParams } = url;
    return toAnswer(Number(searchParams.get('limit') ?? 1000), searchParams.get('include_projects') === 'true');
  }

  const later = (ms: number, run: () => void): void => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      run();
    }, ms);
    timers.add(timer);
  };

  function listen(port: number): Promise<Server> {
    const made = createServer(handle);
    made.on('connection', (socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    });
    return new Promise((resolve, reject) => {
      made.once('error', reject);
      made.listen(port, '127.0.0.1', () => resolve(made));
    });
  }

  let server = await listen(options.port ?? 0);
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };

  return {
    url: `http://127.0.0.1:${port}`,
    ...{ port, requests, violations, mail },
    get mostAtOnce() {
      return mostAtOnce;
    },
    addProject: (slug, folder) => void projects.set(slug, { folder, agents: new Set() }),
    addAgent: (name, project = PROJECT) => void findProject(project).agents.add(name),
    removeAgent: (name, project = PROJECT) => void findProject(project).agents.delete(name),
    deliver({ to, from = 'GreenCastle', subject = 'plan', body = 'body', importance = 'normal', ...rest }) {
      lastId += 1;
      lastTs = rest.createdTs ?? lastTs + 1_000_000;
      const { project = PROJECT } = rest;
      const readBy = new Map(to.map((name) => [name, false]));
      mail.push({ id: lastId, project, sender: from, subject, body, importance, createdTs: lastTs, readBy });
      if (options.signals !== undefined)
        for (const name of to) writeSignal(options.signals, project, name, { id: lastId, from, subject, importance });
      return lastId;
    },
    markRead(name, ids) {
      for (const { id, readBy } of mail)
        if (readBy.has(name) && (ids === undefined || ids.includes(id))) readBy.set(name, true);
    },
    remove: (...ids) => void mail.splice(0, mail.length, ...mail.filter(({ id }) => !ids.includes(id))),
    rebuild() {
      for (const [index, message] of mail.entries()) {
        message.id = index + 1;
        for (const name of message.readBy.keys()) message.readBy.set(name, false);
      }
      lastId = mail.length;
    },
    agentNames: () => [...projects.values()].flatMap(({ agents }) => [...agents]),
    format: (limit = 1000) => Buffer.from(JSON.stringify(toAnswer(limit, false))),
    fail: (fault, route) => void faults.push({ fault, route }),
    allowMarks: () => {
      takesMarks = true;
    },
    setToken: (next) => {
      token = next;
    },
    setExtra: (next) => {
      extra = next;
    },
    refuse: close,
    async heal() {
      faults = [];
      if (!server.listening) server = await listen(port);
    },
    async [Symbol.asyncDispose]() {
      await close();
      for (const timer of timers) clearTimeout(timer);
      assert.deepEqual(violations, [], 'a watcher asked for what it may not ask');
    },
  };
}

function toRoute({ pathname }: URL): MailRoute | null {
  if (pathname === '/mail/api/unified-inbox') return 'inbox';
  if (pathname === '/health/liveness') return 'liveness';
  if (pathname === '/health/readiness') return 'readiness';
  return /^\/mail\/api\/projects\/[^/]+\/agents$/.test(pathname) ? 'agents' : null;
}

function findViolation(
  method: string,
  { searchParams }: URL,
  route: MailRoute | null,
  headers: IncomingHttpHeaders,
  isRust: boolean,
): string | null {
  if (route === null) return 'no such route for a watcher';
  if (method !== 'GET') return 'only GET is allowed';
  const allowed = route === 'liveness' ? HEADERS : new Set([...HEADERS, 'authorization']);
  const header = Object.keys(headers).find((name) => !allowed.has(name));
  if (header !== undefined) return `the header ${header}`;
  if (!/^hivebar\//.test(headers['user-agent'] ?? '')) return 'the user agent names no program';
  const keys = [...searchParams.keys()];
  const allowedKeys = route === 'inbox' ? ['limit', 'include_projects'] : [];
  const key = keys.find((name) => !allowedKeys.includes(name));
  if (key !== undefined) return `the query key ${key}`;
  const limit = searchParams.get('limit');
  if (route === 'inbox' && !(Number(limit) >= 1 && Number(limit) <= 1000)) return `the limit ${limit}`;
  // The Python server writes suggestions into its database for this list.
  if (!isRust && searchParams.has('include_projects')) return 'include_projects makes the Python server write';
  return null;
}

/** Rewritten in place for each message, as the server does it. */
function writeSignal(signals: string, project: string, name: string, message: unknown): void {
  const directory = join(signals, 'projects', project, 'agents');
  mkdirSync(directory, { recursive: true });
  const text = JSON.stringify({ timestamp: '2026-08-22T10:00:00Z', project, agent: name, message });
  writeFileSync(join(directory, `${name}.signal`), text);
}
