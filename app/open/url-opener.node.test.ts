import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { realClock } from '../../core/ports/index.ts';
import { createPageOpener, createUrlOpener, findOpenCommand, isOurPage } from './url-opener.node.ts';

const PORT = 7475;
const NOT_OURS = [
  'http://127.0.0.1:7476/',
  'http://127.0.0.1/',
  'http://localhost:7475/',
  'http://[::2]:7475/',
  'http://127.0.0.1.nip.io:7475/',
  'http://evil.example:7475/',
  'http://127.0.0.1:7475@evil.example/',
  'http://user@127.0.0.1:7475/',
  'http://0x7f.1:7475/',
  'https://127.0.0.1:7475/',
  'file:///etc/passwd',
  'javascript:alert(1)',
  '--help',
  '',
  'http://127.0.0.1:7475/ & calc.exe',
  'http://127.0.0.1:7475/"quoted"',
  '\thttp://127.0.0.1:7475/',
];

/** A folder with a stand-in for xdg-open that writes down how it was called. */
function folderWith(t: TestContext, script: string): { folder: string; seen: () => string[] } {
  const folder = fs.mkdtempSync(join(tmpdir(), 'hivebar-open-'));
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  const record = join(folder, 'seen');
  fs.writeFileSync(
    join(folder, 'xdg-open'),
    `#!/bin/sh\nprintf '%s\\n' "$#" "$@" "$XDG_ACTIVATION_TOKEN" > '${record}.part'\nmv '${record}.part' '${record}'\n${script}\n`,
    { mode: 0o755 },
  );
  return { folder, seen: () => fs.readFileSync(record, 'utf8').split('\n').slice(0, -1) };
}

test('only our own page on loopback is ours, spelled in one way', () => {
  for (const url of ['http://127.0.0.1:7475/', 'http://[::1]:7475/', 'http://127.0.0.1:7475/?x=1#ada%20b']) {
    assert.ok(isOurPage(url, PORT), url);
  }
  for (const url of NOT_OURS) assert.ok(!isOurPage(url, PORT), url);
});

test('the page opener hands over our page with the activation token, and nothing else', async () => {
  const opened: [string, string | null][] = [];
  const openUrl = async (url: string, token: string | null): Promise<void> => void opened.push([url, token]);
  const conceal = (address: string): string => `file:///run/open.html?${address}`;
  const pageOpener = createPageOpener({
    createUrl: (opens) => `http://127.0.0.1:7475/#${opens.is}`,
    port: PORT,
    conceal,
    openUrl,
  });
  await pageOpener.open({ opens: { is: 'overview' }, activationToken: 'token-1' });
  for (const url of NOT_OURS) {
    const other = createPageOpener({ createUrl: () => url, port: PORT, conceal, openUrl });
    await assert.rejects(other.open({ opens: { is: 'overview' }, activationToken: null }), { code: 'internal' });
  }
  assert.deepEqual(opened, [[conceal('http://127.0.0.1:7475/#overview'), 'token-1']]);
});

test('Linux: xdg-open from PATH gets the address as one argument and the token in its environment', async (t) => {
  const { folder, seen } = folderWith(t, '');
  const open = createUrlOpener({ platform: 'linux', env: { PATH: `.:${folder}:/usr/bin:/bin` }, clock: realClock });
  await open('http://127.0.0.1:7475/#$(touch%20PWNED)', 'token-1');
  assert.deepEqual(seen(), ['1', 'http://127.0.0.1:7475/#$(touch%20PWNED)', 'token-1']);
});

test('a browser that stays is let go, and is not waited for', async (t) => {
  const { folder, seen } = folderWith(t, 'exec sleep 5');
  let letGo = (): void => {};
  const after = (_ms: number, run: () => void): Disposable => {
    letGo = run;
    return { [Symbol.dispose]: () => {} };
  };
  const clock = { ...realClock, after };
  const open = createUrlOpener({ platform: 'linux', env: { PATH: `${folder}:/usr/bin:/bin` }, clock });
  const opening = open('http://127.0.0.1:7475/', null);
  while (!fs.existsSync(join(folder, 'seen'))) await sleep(10);
  letGo();
  await opening;
  assert.deepEqual(seen(), ['1', 'http://127.0.0.1:7475/', '']);
});

test('an opener that fails, or is missing, is a fault that says so', async (t) => {
  const { folder } = folderWith(t, 'exit 3');
  const failing = createUrlOpener({ platform: 'linux', env: { PATH: `${folder}:/usr/bin:/bin` }, clock: realClock });
  await assert.rejects(failing('http://127.0.0.1:7475/', null), {
    code: 'exec-failed',
    message: /xdg-open ended with 3/,
  });
  const missing = createUrlOpener({ platform: 'linux', env: { PATH: join(folder, 'nothing') }, clock: realClock });
  await assert.rejects(missing('http://127.0.0.1:7475/', null), { code: 'exec-failed', message: /not on PATH/ });
});

test('macOS and Windows use their own programs by absolute path, never a shell', () => {
  const url = 'http://127.0.0.1:7475/#a&b';
  assert.deepEqual(findOpenCommand(url, 'darwin', {}), ['/usr/bin/open', url]);
  const windows = ['C:\\Win\\System32\\rundll32.exe', 'url.dll,FileProtocolHandler', url];
  assert.deepEqual(findOpenCommand(url, 'win32', { SystemRoot: 'C:\\Win' }), windows);
});
