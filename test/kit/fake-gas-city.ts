import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A message as the supervisor of Gas City serves it. */
export interface CityMessage {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly body: string;
  readonly created_at: string;
  read: boolean;
  readonly priority?: number;
  readonly cc?: readonly string[];
  readonly rig?: string;
  readonly thread_id?: string;
}

/** How answers go wrong. `rig`: the rig of this name answers 500, and so does the whole city. */
export type CityFault =
  | { readonly is: 'status'; readonly status: number; readonly held?: boolean }
  | { readonly is: 'body'; readonly body: string | Uint8Array }
  | { readonly is: 'rig'; readonly rig: string }
  | { readonly is: 'partial'; readonly errors: readonly string[] }
  | { readonly is: 'reset' | 'hang' };

export interface FakeCity {
  readonly name: string;
  readonly path: string;
  isRunning: boolean;
  readonly messages: CityMessage[];
  readonly sessions: { alias: string; id: string; state: string }[];
  readonly rigs: readonly string[];
  /** What the count says instead of the truth; null: the truth. */
  counts: number | null;
  /** The event provider is there. */
  hasEvents: boolean;
  fault: CityFault | null;
  /** Something happened: whoever waits for an event is answered. */
  touch(): void;
  readonly index: number;
}

/** A supervisor for tests: a real server on a loopback port that answers the requests that only look, and takes replies. */
export interface FakeSupervisor extends AsyncDisposable {
  readonly url: string;
  /** `METHOD PATH?QUERY` of each request so far. */
  readonly requests: string[];
  /** What was posted as replies to messages. */
  readonly replies: { readonly path: string; readonly body: unknown }[];
  /** How many requests are held open now. */
  readonly held: number;
  /** How many were held open at once at most. */
  readonly mostHeld: number;
  readonly cities: FakeCity[];
  addCity(name: string, path?: string, rigs?: readonly string[]): FakeCity;
  /** Nobody listens from now on; and again. */
  refuse(): Promise<void>;
  heal(): Promise<void>;
}

interface Waiter {
  readonly city: FakeCity;
  readonly after: number;
  answer(): void;
}

export async function fakeSupervisor(): Promise<FakeSupervisor> {
  const requests: string[] = [];
  const replies: { path: string; body: unknown }[] = [];
  const cities: FakeCity[] = [];
  const waiters = new Set<Waiter>();
  let mostHeld = 0;
  let server: Server = createServer(answer);
  const listen = async (port: number): Promise<void> => {
    server = createServer(answer);
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;

  function answer(request: IncomingMessage, response: ServerResponse): void {
    requests.push(`${request.method} ${request.url}`);
    const url = new URL(request.url ?? '/', 'http://a');
    if (request.method !== 'GET') {
      takeReply(request, url, response);
      return;
    }
    if (url.pathname === '/v0/cities') {
      const items = cities.map(({ name, path, isRunning }) => ({ name, path, running: isRunning }));
      send(response, { items, total: items.length });
      return;
    }
    const [, , , name = '', ...rest] = url.pathname.split('/');
    const city = cities.find((each) => each.name === name);
    if (city === undefined) {
      response.writeHead(404).end();
      return;
    }
    const route = rest.join('/');
    const index = url.searchParams.get('index');
    if (route === 'mail' && index !== null && city.fault?.is !== 'status') {
      if (!city.hasEvents) {
        response.writeHead(503).end('events not enabled');
        return;
      }
      const after = Number(index);
      if (city.index > after) {
        answerCity(city, route, url, response);
        return;
      }
      const waiter: Waiter = {
        city,
        after,
        answer() {
          waiters.delete(waiter);
          answerCity(city, route, url, response);
        },
      };
      waiters.add(waiter);
      mostHeld = Math.max(mostHeld, waiters.size);
      response.on('close', () => waiters.delete(waiter));
      return;
    }
    answerCity(city, route, url, response);
  }

  /** A change without the header is refused, as the supervisor does it. */
  function takeReply(request: IncomingMessage, { pathname }: URL, response: ServerResponse): void {
    const [, name = '', id = ''] = /^\/v0\/city\/([^/]+)\/mail\/([^/]+)\/reply$/.exec(pathname) ?? [];
    const city = cities.find((each) => each.name === name);
    const isKnown = city?.messages.some((message) => message.id === decodeURIComponent(id)) === true;
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      if (request.headers['x-gc-request'] === undefined) response.writeHead(403).end('{"error":"csrf"}');
      else if (request.method !== 'POST' || !isKnown) response.writeHead(404).end('{"error":"no such message"}');
      else {
        replies.push({ path: pathname, body: JSON.parse(Buffer.concat(parts).toString('utf8')) });
        response.writeHead(201, { 'content-type': 'application/json' }).end('{"id":"gc-new"}');
      }
    });
  }

  function answerCity(city: FakeCity, route: string, url: URL, response: ServerResponse): void {
    const { fault } = city;
    const rig = url.searchParams.get('rig');
    if (fault?.is === 'hang') return;
    if (fault?.is === 'reset') {
      response.socket?.destroy();
      return;
    }
    if (fault?.is === 'status') {
      response.writeHead(fault.status).end('{"error":"no"}');
      return;
    }
    if (fault?.is === 'body' && route === 'mail') {
      response.writeHead(200).end(fault.body);
      return;
    }
    if (fault?.is === 'rig' && route.startsWith('mail') && (rig === null || rig === fault.rig)) {
      response.writeHead(500).end('{"error":"store is gone"}');
      return;
    }
    if (route === 'rigs') {
      send(response, { items: city.rigs.map((each) => ({ name: each })) });
      return;
    }
    if (route === 'sessions') {
      page(city.sessions, url, city, response);
      return;
    }
    const agent = url.searchParams.get('agent');
    const mine = city.messages.filter(
      (message) => agent === null || message.to === agent || message.cc?.includes(agent) === true,
    );
    if (route === 'mail/count') {
      const unread = city.counts ?? mine.filter(({ read }) => !read).length;
      send(response, { total: mine.length, unread });
      return;
    }
    if (route !== 'mail') {
      response.writeHead(404).end();
      return;
    }
    page(url.searchParams.get('status') === 'all' ? mine : mine.filter(({ read }) => !read), url, city, response);
  }

  function page(all: readonly object[], url: URL, city: FakeCity, response: ServerResponse): void {
    const limit = Number(url.searchParams.get('limit') ?? 50);
    const from = Number(url.searchParams.get('cursor') ?? 0);
    const items = all.slice(from, from + limit);
    const more = from + limit < all.length ? { next_cursor: `${from + limit}` } : {};
    const partial = city.fault?.is === 'partial' ? { partial: true, partial_errors: city.fault.errors } : {};
    const headers = city.hasEvents ? { 'x-gc-index': `${city.index}` } : {};
    send(response, { items, total: all.length, ...more, ...partial }, headers);
  }

  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    replies,
    cities,
    get held() {
      return waiters.size;
    },
    get mostHeld() {
      return mostHeld;
    },
    addCity(name, path = '', rigs = []) {
      let index = 1;
      const city: FakeCity = {
        ...{
          name,
          path,
          rigs,
          isRunning: true,
          messages: [],
          sessions: [],
          counts: null,
          hasEvents: true,
          fault: null,
        },
        touch() {
          index += 1;
          for (const waiter of [...waiters]) if (waiter.city === city && index > waiter.after) waiter.answer();
        },
        get index() {
          return index;
        },
      };
      cities.push(city);
      return city;
    },
    async refuse() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
    heal: () => listen(port),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function send(response: ServerResponse, value: object, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
}

let lastMessage = 0;

/** Adds an unread message, as an event of the city. */
export function sendMail(city: FakeCity, to: string, body: string, more: Partial<CityMessage> = {}): CityMessage {
  lastMessage += 1;
  const at = new Date(Date.UTC(2026, 7, 22, 10) + lastMessage * 1000).toISOString();
  const message: CityMessage = {
    ...{ id: `gc-${lastMessage}`, from: 'cy', to, subject: body, body, created_at: at, read: false },
    ...more,
  };
  city.messages.push(message);
  city.touch();
  return message;
}
