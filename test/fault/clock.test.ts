import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { type TrayHome, type TrayProcess, trayHome } from '../kit/tray-process.ts';

const SHIFTED = `--import=${pathToFileURL(join(import.meta.dirname, '..', 'kit', 'shifted-time.mjs'))}`;
const DAY_MS = 86_400_000;
const shifted = (days: number, jumpDays = 0): Record<string, string> => ({
  NODE_OPTIONS: SHIFTED,
  SHIFT_MS: String(days * DAY_MS),
  ...(jumpDays === 0 ? {} : { JUMP_MS: String(jumpDays * DAY_MS) }),
});

async function send(tray: TrayProcess, count: number, sent: number[]): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    const { result } = (await tray.post('/api/send', { to: 'ada', from: 'me', content: `mail ${sent.length}` })) as {
      result: { id: number };
    };
    sent.push(result.id);
  }
}

async function assertDelivered(home: TrayHome, tray: TrayProcess, sent: readonly number[]): Promise<void> {
  await tray.persona('ada', ({ unread }) => unread === sent.length);
  await tray.cli.until('all events', () => home.mail('ada').length >= sent.length);
  assert.deepEqual(home.mail('ada'), sent);
}

for (const days of [40, -400]) {
  test(`A2 given a clock that is off by ${days} days while the program runs and at a start, nothing is lost, untold or told twice`, async () => {
    using home = trayHome();
    const sent: number[] = [];
    {
      await using tray = await home.start([], shifted(0, days));
      await send(tray, 3, sent);
      await assertDelivered(home, tray, sent);
      tray.cli.kill('SIGUSR2');
      await send(tray, 3, sent);
      await assertDelivered(home, tray, sent);
      assert.deepEqual((await tray.stop()).code, 0);
    }
    for (const shift of [days, 0]) {
      await using tray = await home.start([], shifted(shift));
      await send(tray, 3, sent);
      await assertDelivered(home, tray, sent);
      assert.doesNotMatch(tray.log.join('\n'), /retention deletes/);
      assert.deepEqual((await tray.stop()).code, 0);
    }
  });
}
