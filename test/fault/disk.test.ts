import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { StatusWire } from '../../app/status/index.ts';
import { needs } from '../kit/require.ts';
import { type TrayHome, trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

/** A home on a small disk of its own. Null: this machine lets nobody mount one. */
function smallDisk(t: TestContext): (TrayHome & { fill(): void; free(): void }) | null {
  const home = trayHome();
  rmSync(home.dir, { recursive: true, force: true });
  mkdirSync(home.dir, { mode: 0o700 });
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=6m,mode=0700', 'tmpfs', home.dir]);
  if (needs(t, mounted.status === 0 ? null : 'no small disk can be mounted here: run as root')) {
    home[Symbol.dispose]();
    return null;
  }
  mkdirSync(home.at('config'), { mode: 0o700 });
  writeFileSync(home.at('config', 'config.json'), '{"primary": {"is": "local"}}', { mode: 0o600 });
  const ballast = home.at('ballast');
  return {
    ...home,
    fill() {
      const fd = openSync(ballast, 'a');
      try {
        for (const size of [65_536, 4096]) for (;;) if (!wrote(fd, size)) break;
      } finally {
        closeSync(fd);
      }
    },
    free: () => rmSync(ballast, { force: true }),
    [Symbol.dispose]() {
      execFileSync('umount', ['-l', home.dir]);
      home[Symbol.dispose]();
    },
  };
}

function wrote(fd: number, size: number): boolean {
  try {
    return writeSync(fd, Buffer.alloc(size)) === size;
  } catch {
    return false; // it is full
  }
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Over the owner socket, which needs neither token nor port. */
function ask(home: TrayHome, method: 'GET' | 'POST', path: string, body?: object): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { host: 'localhost', ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
    const asked = request({ socketPath: home.at('run', 'hivebar.sock'), method, path, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
    });
    asked.on('error', reject);
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const fetchStatus = async (home: TrayHome): Promise<StatusWire> =>
  JSON.parse((await ask(home, 'GET', '/status.json')).body) as StatusWire;

async function untilStatus(home: TrayHome, goal: string, fits: (status: StatusWire) => boolean): Promise<void> {
  let last: unknown = null;
  await until(
    () => `${goal}: ${JSON.stringify(last)}`,
    async () => {
      last = await fetchStatus(home).catch((error: unknown) => String(error));
      return typeof last === 'object' && last !== null && fits(last as StatusWire);
    },
    30_000,
  );
}

const isReported = ({ causes }: StatusWire): boolean =>
  causes.some(({ key, message }) => key === 'disk' && /no space left/.test(message));
const send = (home: TrayHome, content: string): Promise<Answer> =>
  ask(home, 'POST', '/api/send', { to: 'ada', from: 'me', content });

test('A7 given a disk that fills while the program runs, it says so and recovers by itself', async (t) => {
  using home = smallDisk(t);
  if (home === null) return;
  await using tray = await home.start();
  assert.equal((await send(home, 'before')).status, 200);
  home.fill();
  const refused = await send(home, 'x'.repeat(100_000));
  assert.equal(refused.status, 507, refused.body);
  await untilStatus(home, 'a cause', isReported);
  const ready = await ask(home, 'GET', '/readyz');
  assert.equal(ready.status, 503);
  assert.match(ready.body, /disk/);
  home.free();
  await untilStatus(home, 'no cause', ({ causes }) => causes.length === 0);
  assert.equal((await ask(home, 'GET', '/readyz')).status, 200);
  assert.equal((await send(home, 'after')).status, 200);
  await tray.persona('ada', ({ unread }) => unread === 2);
  await tray.cli.until('its events', () => home.mail('ada').length === 2);
});

for (const end of ['kill', 'stop'] as const) {
  test(`A7 given a disk that is full at the start after a ${end}, it starts read-only, says so, and goes on when there is room`, async (t) => {
    using home = smallDisk(t);
    if (home === null) return;
    {
      await using tray = await home.start();
      for (const content of ['one', 'two']) assert.equal((await send(home, content)).status, 200);
      await tray.cli.until('its events', () => home.mail('ada').length === 2);
      await tray[end]();
    }
    home.fill();
    await using cli = home.spawn();
    await cli.says(/starts read-only/, 30_000);
    await cli.says(/is running: http/, 30_000);
    await untilStatus(
      home,
      'a cause, and the persona',
      (status) => isReported(status) && status.personas.some(({ id, unread }) => id === 'ada' && unread === 2),
    );
    const inbox = await ask(home, 'GET', '/api/inbox?persona=ada&mark_read=false');
    assert.match(inbox.body, /one/);
    const refused = await send(home, 'three');
    assert.equal(refused.status, 507, refused.body);
    assert.equal((await ask(home, 'GET', '/readyz')).status, 503);
    home.free();
    await untilStatus(
      home,
      'no cause',
      ({ causes, personas }) => causes.length === 0 && personas.some(({ id, unread }) => id === 'ada' && unread === 2),
    );
    await until(
      () => 'it accepts again',
      async () => (await send(home, 'four').catch(() => null))?.status === 200,
      30_000,
    );
    await cli.until('its events', () => home.mail('ada').length === 3);
    assert.ok(existsSync(join(home.dir, 'run', 'port')));
    assert.deepEqual(home.mail('ada').slice(0, 2), [1, 2]);
  });
}
