import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Io } from '../../core/command/index.ts';
import { resolveOwnerSocketPath } from '../owner-socket.ts';
import { command } from './notify.ts';

/** Runs the command against a tray process that answers with `result`. */
async function answered(
  result: object | null,
  args: readonly string[] = ['test'],
): Promise<{ readonly code: number; readonly out: string; readonly err: string; readonly asked: readonly string[] }> {
  const home = mkdtempSync(join(tmpdir(), 'hivebar-notify-cli-'));
  mkdirSync(join(home, 'run'));
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.end(JSON.stringify({ result }));
  });
  const output = { out: '', err: '' };
  const io: Io = {
    env: { HIVEBAR_HOME: home },
    out: (text) => {
      output.out += text;
    },
    err: (text) => {
      output.err += text;
    },
    input: async () => '',
  };
  try {
    if (result !== null) {
      await new Promise<void>((resolve) =>
        server.listen(resolveOwnerSocketPath(process.platform, join(home, 'run'), null), resolve),
      );
    }
    return { code: await command.run(args, io, {}), ...output, asked };
  } finally {
    server.closeAllConnections();
    server.close();
    rmSync(home, { recursive: true, force: true });
  }
}

test('a banner that the desktop took is a success, and no claim that it was seen', async () => {
  const { code, out, err, asked } = await answered({ taken: true, by: 'D-Bus, dunst 1.9.0', silent: null });
  assert.deepEqual([code, err], [0, '']);
  assert.equal(out, 'the desktop accepted the banner (D-Bus, dunst 1.9.0); whether it shows it is up to the desktop\n');
  assert.deepEqual(asked, ['POST /api/v1/actions/notify-test']);
});

test('given channels beside the desktop, then those that took it are named', async () => {
  const channels = ['desktop', 'file'];
  const { code, out } = await answered({ taken: true, by: 'desktop: D-Bus; file: /tmp/a', channels, silent: null });
  assert.deepEqual(
    [code, out],
    [0, 'these channels accepted the notification: desktop, file (desktop: D-Bus; file: /tmp/a)\n'],
  );
});

test('a silence of our own is named: other banners would not be shown', async () => {
  const paused = await answered({ taken: true, by: 'D-Bus', silent: 'paused' });
  assert.match(paused.out, /paused: no other banner is shown until they are resumed\n$/);
  const quiet = await answered({ taken: true, by: 'D-Bus', silent: 'quiet-hours' });
  assert.match(quiet.out, /quiet hours are on: other banners wait until they end\n$/);
});

test('a refused banner is a failure with its reason, printed without what a terminal would act on', async () => {
  const why = 'no notification daemon\u001b[31m';
  const { code, out, err } = await answered({ taken: false, by: 'unavailable', silent: null, why });
  assert.deepEqual([code, out], [1, '']);
  assert.match(err, /^the banner was refused: no notification daemon\S*\[31m \(notifications: unavailable\)\n/);
  assert.doesNotMatch(err, new RegExp(String.fromCharCode(0x1b)));
});

test('without the tray process it says how to start it', async () => {
  const { code, err } = await answered(null);
  assert.equal(code, 1);
  assert.match(err, /hivebar is not running/);
});

test('anything but "test" is a usage error', async () => {
  for (const args of [[], ['tset'], ['test', 'twice'], ['--now', 'test']]) {
    await assert.rejects(answered(null, args), { code: 'usage' }, args.join(' '));
  }
});
