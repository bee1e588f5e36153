import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readStream } from '../kit/stream.ts';
import { trayHome } from '../kit/tray-process.ts';

test('S19: no session bus and no notify-send: one line, not 50; the state says why, and event files and the stream go on', async () => {
  const empty = mkdtempSync(join(tmpdir(), 'hivebar-no-programs-'));
  using home = trayHome();
  try {
    await using tray = await home.start(['--no-tray'], { PATH: empty, XDG_RUNTIME_DIR: empty });
    await using stream = await readStream(tray.url);
    for (let i = 0; i < 50; i += 1) {
      await tray.post('/api/send', { to: `p${i % 10}`, from: 'river', content: `mail ${i}` });
    }
    const { notifications } = await tray.until('50 unread', ({ totals }) => totals.unread === 50);
    assert.match(notifications.state, /^off \(.*bus.*\)$/);
    const lines = tray.log.filter((line) => /notification|banner/i.test(line));
    assert.equal(lines.length, 1, lines.join('\n'));
    const delivered = (): number =>
      Array.from({ length: 10 }, (_, p) => home.mail(`p${p}`).length).reduce((a, b) => a + b);
    await tray.cli.until('a line each', () => delivered() === 50);
    await stream.until('an event each', ({ ids }) => new Set(ids.filter((id) => id?.includes(':new:'))).size === 50);
    const tried = await home.run(['notify', 'test'], { env: { PATH: empty, XDG_RUNTIME_DIR: empty } });
    assert.equal(tried.code, 1);
    assert.match(tried.stderr, /^the banner was refused: .*bus/);
  } finally {
    rmSync(empty, { recursive: true, force: true });
  }
});

test('where no browser can be opened `hivebar open` prints the address, which logs a browser in, once', async () => {
  const empty = mkdtempSync(join(tmpdir(), 'hivebar-no-browser-'));
  using home = trayHome();
  try {
    await using tray = await home.start(['--no-tray', '--no-notifications'], { PATH: empty });
    const { code, stdout, stderr } = await home.run(['open']);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /xdg-open is not on PATH/);
    const address = /http:\/\/127\.0\.0\.1:\d+\/#once=\w+/.exec(stderr)?.[0] ?? '';
    const handIn = async (link: string) => {
      const body = JSON.stringify({ code: new URL(link).hash.slice('#once='.length) });
      const headers = { 'content-type': 'application/json' };
      return await fetch(`${tray.url}/api/v1/token`, { method: 'POST', headers, body });
    };
    const answer = await handIn(address);
    assert.equal(answer.status, 200);
    assert.equal((await handIn(address)).status, 403);
    const printed = await home.run(['open', '--print']);
    assert.deepEqual([printed.code, printed.stderr], [0, '']);
    assert.equal((await handIn(printed.stdout.trim())).status, 200);
  } finally {
    rmSync(empty, { recursive: true, force: true });
  }
});
