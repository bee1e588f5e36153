/** A hive that sends windows, in a process of its own: `node window-hive.ts MESSAGES ROWS`; says its port. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const [, , messages = '10000', rows = '200'] = process.argv;
const row = (id: number) => ({
  id,
  from: 'bench',
  content: `message ${id} ${'x'.repeat(150)}`,
  created: '2026-01-01T00:00:00Z',
  read: false,
});
let last = Number(messages);
const most = Number(rows);

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://hive');
  response.setHeader('content-type', 'application/json');
  if (pathname === '/api/personas') return response.end('{"result":[{"persona":"ada"}]}');
  if (pathname === '/api/notify/pending')
    return response.end(`{"result":[{"persona":"ada","unread":${last},"unread_urgent":0}]}`);
  if (pathname === '/deliver') {
    last += Number(searchParams.get('n'));
    return response.end('{}');
  }
  const top = Number(searchParams.get('before_id') ?? last + 1) - 1;
  const first = Math.max(1, top - most + 1);
  const result = Array.from({ length: Math.max(0, top - first + 1) }, (_, i) => row(first + i));
  const withheld = Math.max(0, first - 1);
  response.end(
    JSON.stringify({
      result,
      truncated: withheld > 0,
      size_dropped: 0,
      size_truncated: false,
      next_before_id: withheld > 0 ? first : null,
      unread_not_shown: withheld,
    }),
  );
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
