import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A hive that does as little as one can, and knows when it answered: nanoseconds of the machine's monotonic clock. */
export interface BenchHive extends AsyncDisposable {
  readonly url: string;
  deliver(persona: string): number;
  /** The id of the message that was delivered last, 0 before the first. */
  readonly last: number;
  /** When the inbox answer that first held this message went out. */
  answeredAt(id: number): bigint | undefined;
  /** Requests so far, by path. */
  readonly counts: { pending: number; inbox: number; personas: number };
  /** Whether a long-poll is held right now. */
  readonly holding: boolean;
}

export async function benchHive(personas: readonly string[]): Promise<BenchHive> {
  const inboxes = new Map(personas.map((p) => [p, [] as string[]]));
  const answered = new Map<number, bigint>();
  const counts = { pending: 0, inbox: 0, personas: 0 };
  const unread = new Map<string, number>();
  const held = new Set<ServerResponse>();
  let last = 0;
  let cursor = 0;

  const pendingBody = (): string => {
    const result = [...unread].map(([persona, n]) => ({ persona, unread: n, unread_urgent: 0 }));
    return JSON.stringify({ result, cursor: String(cursor) });
  };
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://hive');
    response.setHeader('content-type', 'application/json');
    if (url.pathname === '/api/personas') {
      counts.personas += 1;
      response.end(JSON.stringify({ result: personas.map((persona) => ({ persona })) }));
    } else if (url.pathname === '/api/notify/pending') {
      counts.pending += 1;
      const wait = Number(url.searchParams.get('wait') ?? 0);
      if (wait === 0 || url.searchParams.get('cursor') !== String(cursor)) return response.end(pendingBody());
      held.add(response);
      const timer = setTimeout(() => response.end(pendingBody()), wait * 1000);
      response.on('close', () => {
        clearTimeout(timer);
        held.delete(response);
      });
    } else {
      counts.inbox += 1;
      const rows = inboxes.get(url.searchParams.get('persona') ?? '') ?? [];
      response.end(`{"result":[${rows.slice(-20).join(',')}]}`);
      const now = process.hrtime.bigint();
      const newest = rows.at(-1);
      if (newest === undefined) return;
      const id = (JSON.parse(newest) as { id: number }).id;
      if (!answered.has(id)) answered.set(id, now);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    deliver(persona) {
      last += 1;
      cursor += 1;
      const row = {
        id: last,
        from: 'bench',
        content: `message ${last} ${'x'.repeat(150)}`,
        created: '2026-01-01T00:00:00Z',
        read: false,
      };
      inboxes.get(persona)?.push(JSON.stringify(row));
      unread.set(persona, (unread.get(persona) ?? 0) + 1);
      for (const response of held) response.end(pendingBody());
      held.clear();
      return last;
    },
    answeredAt: (id) => answered.get(id),
    get last() {
      return last;
    },
    get holding() {
      return held.size > 0;
    },
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
