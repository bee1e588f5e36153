import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { trayHome } from '../kit/tray-process.ts';

const SHIFTED = `--import=${pathToFileURL(join(import.meta.dirname, '..', 'kit', 'shifted-time.mjs'))}`;
const shifted = (days: number): Record<string, string> => ({
  NODE_OPTIONS: SHIFTED,
  SHIFT_MS: String(days * 86_400_000),
});

test('A2 given one start with the clock 40 days ahead, no mail is deleted and it is said', async () => {
  using home = trayHome();
  {
    await using tray = await home.start();
    for (let i = 0; i < 9; i += 1) await tray.post('/api/send', { to: 'ada', from: 'me', content: `mail ${i}` });
    const pushed = await home.run(['inbox', 'push', '--to', 'ada', '--ttl', '30d', 'for a month']);
    assert.equal(pushed.code, 0, pushed.stderr);
    await tray.persona('ada', ({ unread }) => unread === 10);
    await tray.stop();
  }
  {
    await using tray = await home.start([], shifted(40));
    await tray.until('a look', ({ personas }) => personas.some(({ id, unread }) => id === 'ada' && unread === 10));
    assert.match(
      tray.log.join('\n'),
      /the clock of this machine is 40 days ahead of when hivebar last ran: no mail is deleted/,
    );
    assert.doesNotMatch(tray.log.join('\n'), /retention deletes/);
    // Nor does a command of that moment.
    assert.equal((await home.run(['inbox', 'list', 'ada'], { env: shifted(40) })).code, 0);
    await tray.stop();
  }
  await using tray = await home.start();
  const ada = await tray.persona('ada', ({ unread }) => unread !== null);
  assert.equal(ada.unread, 10);
  const list = await home.run(['inbox', 'list', 'ada', '--json']);
  assert.equal((JSON.parse(list.stdout) as unknown[]).length, 10);
});
