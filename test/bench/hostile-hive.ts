import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A hive of one persona that answers as it should, until it is told to be hostile. */
export interface HostileHive extends AsyncDisposable {
  readonly url: string;
  /** Answers so far, of the kind it gave then. */
  readonly answers: { fine: number; hostile: number };
  isHostile: boolean;
}

const LEVELS = 3 * 1024 * 1024;
const BRACKETS = '['.repeat(LEVELS) + ']'.repeat(LEVELS);
/** The pending list is nothing but brackets; the inbox has a row whose content is. Both have 6 MB. */
const PENDING = Buffer.from(BRACKETS);
const INBOX = Buffer.from(
  `{"result":[{"id":1,"from":"eve","created":"2026-01-01T00:00:00Z","read":false,"content":${BRACKETS}}]}`,
);

export async function hostileHive(): Promise<HostileHive> {
  const answers = { fine: 0, hostile: 0 };
  let isHostile = false;
  const server = createServer(({ url = '' }, response) => {
    response.setHeader('content-type', 'application/json');
    if (url.startsWith('/api/personas')) return response.end('{"result":[{"persona":"ada"}]}');
    answers[isHostile ? 'hostile' : 'fine'] += 1;
    if (!isHostile) return response.end('{"result":[]}');
    response.end(url.startsWith('/api/inbox') ? INBOX : PENDING);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answers,
    get isHostile() {
      return isHostile;
    },
    set isHostile(now) {
      isHostile = now;
    },
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
