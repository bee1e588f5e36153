import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { realClock } from '../../core/ports/index.ts';
import { desktopMissing, poll, skipUnless, startDesktop } from '../../test/kit/desktop/index.ts';
import { programOnPath } from '../programs.node.ts';
import { type CopyResult, copyText } from './clipboard.node.ts';

const HOSTILE = `hivebar tail '--help; touch PWNED; $(touch PWNED)' --follow\n-e \`x\` ünïcode 🐝`;

describe('the clipboard', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hivebar-clipboard-'));
  after(() => rmSync(folder, { recursive: true }));

  /** A folder with programs that write down what they were given. */
  function standIns(name: string, programs: Readonly<Record<string, string>>) {
    const bin = join(folder, name);
    mkdirSync(bin);
    for (const [program, then] of Object.entries(programs)) {
      const script = `#!/bin/sh\necho "$*" >'${bin}/${program}.args'\ncat >'${bin}/${program}.input'\n${then}\n`;
      writeFileSync(join(bin, program), script, { mode: 0o700 });
    }
    const calls = (file: string): string | null =>
      existsSync(join(bin, file)) ? readFileSync(join(bin, file), 'utf8') : null;
    return { bin, calls };
  }

  const copy = (bin: string, env: Readonly<Record<string, string>>, second = 1000): Promise<CopyResult> =>
    copyText(HOSTILE, {
      platform: 'linux',
      env: { PATH: ['', '.', bin, '/usr/bin', '/bin'].join(delimiter), ...env },
      clock: { ...realClock, after: (ms, run) => realClock.after((ms * second) / 1000, run) },
    });

  test('under Wayland wl-copy is given the text, byte for byte and as input', async () => {
    const { bin, calls } = standIns('wayland', { 'wl-copy': '', xclip: '' });
    const copied = await copy(bin, { WAYLAND_DISPLAY: 'wayland-0', DISPLAY: ':0' });
    assert.deepEqual(copied, { is: 'copied', by: join(bin, 'wl-copy') });
    assert.deepEqual([calls('wl-copy.args'), calls('wl-copy.input'), calls('xclip.input')], ['\n', HOSTILE, null]);
  });

  test('one that fails gives way to the next', async () => {
    const { bin, calls } = standIns('next', { 'wl-copy': 'exit 1', xclip: '' });
    const copied = await copy(bin, { WAYLAND_DISPLAY: 'gone', DISPLAY: ':0' });
    assert.deepEqual(copied, { is: 'copied', by: join(bin, 'xclip') });
    assert.deepEqual([calls('xclip.args'), calls('xclip.input')], ['-selection clipboard\n', HOSTILE]);
  });

  test('one that leaves a child behind with the selection is not waited for', async () => {
    const { bin } = standIns('child', { xclip: '(sleep 5) &' });
    const began = performance.now();
    assert.equal((await copy(bin, { DISPLAY: ':0' })).is, 'copied');
    assert.ok(performance.now() - began < 2000);
  });

  test('one that hangs, and one that does not read, are told and not waited for', async () => {
    const { bin } = standIns('hangs', { xclip: 'exec sleep 30', xsel: 'exit 3' });
    writeFileSync(join(bin, 'xsel'), '#!/bin/sh\nexit 3\n', { mode: 0o700 });
    assert.deepEqual(await copy(bin, { DISPLAY: ':0' }, 100), {
      is: 'failed',
      why: `${join(bin, 'xclip')} did not end within 3 s; ${join(bin, 'xsel')} ended with 3`,
    });
  });

  test('without a desktop or without a program it says what would help', async () => {
    const { bin, calls } = standIns('none', { 'wl-copy': '', xclip: '' });
    const none = { is: 'failed', why: 'no clipboard program (Debian: apt-get install xclip, or wl-clipboard)' };
    assert.deepEqual(await copy(bin, {}), none);
    assert.equal(calls('xclip.input'), null);
    assert.deepEqual(
      await copyText('x', { platform: 'linux', env: { PATH: '', DISPLAY: ':0' }, clock: realClock }),
      none,
    );
  });

  test('elsewhere the program of the system is asked for by its full path', async () => {
    const needs = { env: { PATH: '/usr/bin', SystemRoot: 'D:\\Win' }, clock: realClock };
    assert.deepEqual(await copyText('x', { ...needs, platform: 'win32' }), {
      is: 'failed',
      why: 'D:\\Win\\System32\\clip.exe does not exist',
    });
    if (process.platform !== 'darwin') {
      assert.deepEqual(await copyText('x', { ...needs, platform: 'darwin' }), {
        is: 'failed',
        why: '/usr/bin/pbcopy does not exist',
      });
    }
  });
});

const xclip = programOnPath('xclip', process.env, process.platform);
const missing = desktopMissing() ?? (xclip === null ? 'xclip missing (Debian: apt-get install xclip)' : null);

test('on a real desktop any program can paste the text afterwards', { skip: skipUnless(missing) }, async () => {
  await using desktop = await startDesktop({ host: 'none', notify: 'none' });
  const copied = await copyText(HOSTILE, { platform: 'linux', env: desktop.env, clock: realClock });
  assert.deepEqual(copied, { is: 'copied', by: xclip });
  // xclip has ended, and the child it leaves behind may not hold the selection yet.
  const pasted = await poll(
    () => 'the text from the clipboard',
    () =>
      promisify(execFile)('xclip', ['-o', '-selection', 'clipboard'], { env: desktop.env }).then(
        ({ stdout }) => stdout,
        () => null,
      ),
  );
  assert.equal(pasted, HOSTILE);
});
