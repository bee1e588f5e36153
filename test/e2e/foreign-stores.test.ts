import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAgmsgHome } from '../kit/agmsg-store.ts';
import { createCodexHome } from '../kit/codex-queue.ts';
import { type TrayHome, trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';
import { describeTree } from '../kit/watched-tree.ts';

const FAST = { primary: { is: 'local' }, pollSeconds: 1, maxReplay: 5000 };

/**
 * Starts the tray process, fills a store that it watches, kills it when it has delivered a part, and starts it again.
 * @returns the contents that each persona was delivered, in order
 */
async function deliverThroughKill(
  home: TrayHome,
  stems: readonly string[],
  fill: () => void,
  { total, unread }: { readonly total: number; readonly unread: number },
): Promise<readonly (readonly unknown[])[]> {
  const read = () =>
    stems.map((stem) => home.events(stem).flatMap((event) => (event.event === 'new' ? [event.content] : [])));
  const count = (): number => read().reduce((sum, contents) => sum + contents.length, 0);
  const first = await home.start();
  fill();
  await until('a part is delivered', () => count() > 0);
  await first.kill();
  const before = count();
  await using second = await home.start();
  await second.until('all are unread', ({ totals }) => totals.unread === unread);
  await until(
    () => `${count()} of ${total}, ${before} of them before the kill`,
    () => count() >= total,
  );
  await sleep(1500); // whatever came twice would come now
  return read();
}

test('codex 6: 5,000 messages for 500 threads in one transaction are 500 personas, each message once, also after a kill', async () => {
  using codex = createCodexHome();
  using home = trayHome({ ...FAST, codex: { is: 'auto', home: codex.home } });
  const threads = Array.from({ length: 500 }, (_, n) => codex.addThread(`thread-${n}`));
  const contents = Array.from({ length: 10 }, (_, n) => `message ${n}`);
  const fill = (): void => {
    codex.run('BEGIN');
    for (const thread of threads) for (const content of contents) codex.enqueue(thread, content);
    codex.run('COMMIT');
  };
  const stems = threads.map((thread) => `codex-${thread.slice(-12)}`);
  const delivered = await deliverThroughKill(home, stems, fill, { total: 5000, unread: 5000 });
  assert.deepEqual(
    delivered,
    threads.map(() => contents),
  );
});

test('agmsg 9: 1,000 messages of one transaction are delivered in their order, and none twice after a kill', async () => {
  using agmsg = createAgmsgHome();
  using home = trayHome({ ...FAST, agmsg: { is: 'auto', roots: [agmsg.root] } });
  agmsg.writeTeam('crew', ['alice', 'bob']);
  agmsg.send('crew', 'bob', 'from before');
  const contents = Array.from({ length: 1000 }, (_, n) => `message ${n}`);
  const fill = (): void => {
    agmsg.run('BEGIN');
    for (const content of contents) agmsg.send('crew', 'alice', content);
    agmsg.run('COMMIT');
  };
  const delivered = await deliverThroughKill(home, ['agmsg-alice'], fill, { total: 1000, unread: 1001 });
  assert.deepEqual(delivered, [contents]);
  assert.deepEqual(home.mail('agmsg-bob'), [], 'it was there before anybody watched');
});

test('codex 2, agmsg 6: the tray process leaves stores of others as they are, their side files included', async () => {
  using codex = createCodexHome();
  using agmsg = createAgmsgHome();
  using home = trayHome({
    ...{ ...FAST, codex: { is: 'auto', home: codex.home }, agmsg: { is: 'auto', roots: [agmsg.root] } },
  });
  agmsg.writeTeam('crew', ['alice']);
  agmsg.send('crew', 'alice', 'hello');
  const thread = codex.addThread('ada');
  codex.enqueue(thread, 'hello');
  await using tray = await home.start();
  const see = (n: number) => tray.until(`${n} unread`, ({ totals }) => totals.unread === n, 15_000);
  await see(2);
  const describe = () => [describeTree(codex.home), describeTree(agmsg.root)];
  const open = describe();
  await sleep(2500);
  assert.deepEqual(describe(), open, 'while their programs have them open');
  codex.enqueue(thread, 'again');
  await see(3);
  codex.close();
  agmsg.close();
  const closed = describe();
  await sleep(2500);
  assert.deepEqual(describe(), closed, 'while nobody has them open');
  agmsg.send('crew', 'alice', 'again');
  await see(4);
});
