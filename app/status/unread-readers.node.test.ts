import assert from 'node:assert/strict';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import { needs } from '../../test/kit/require.ts';
import { until } from '../../test/kit/until.ts';
import { countUnread, readTable, watchUnread } from './connections.node.ts';

test('B5 an idle reader that does not drain is dropped after half a minute; one that reads stays', async (t) => {
  if (needs(t, process.platform === 'linux' ? null : 'only Linux tells what is unread at the far end')) return;
  const accepted: Socket[] = [];
  const server = createServer((socket) => void accepted.push(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const clients: Socket[] = [];
  t.after(() => {
    for (const socket of [...clients, ...accepted]) socket.destroy();
    server.close();
  });
  const clock = fakeClock();
  const observer = watchUnread(clock);
  const stop = new AbortController();
  const ended = observer.service.run(stop.signal);
  const dropped: string[] = [];
  for (const name of ['reads', 'idles']) {
    const client = connect(port, '127.0.0.1').on('error', () => {}); // it may be cut
    clients.push(client);
    if (name === 'reads') client.resume();
    else client.pause();
    await until('the connection', () => accepted.length === clients.length);
    observer.add(accepted.at(-1) as Socket, () => dropped.push(name));
  }
  const unread = (): (number | null)[] => accepted.map((socket) => countUnread(readTable(), socket));
  for (let polls = 1; polls <= 4; polls += 1) {
    assert.deepEqual(dropped, [], `after ${polls - 1} looks`);
    for (const socket of accepted) socket.write('data: x\n\n');
    await until('what was sent is read, or lies there', () => unread()[0] === 0 && unread()[1] === 9 * polls);
    await clock.advance(10_000);
  }
  assert.deepEqual(dropped, ['idles']);
  stop.abort();
  await ended;
  assert.equal(clock.waiting, 0);
});
