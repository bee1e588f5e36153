import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createBoard } from '../../core/board/index.ts';
import { exactly } from '../../core/model/index.ts';
import { realClock, silentLog } from '../../core/ports/index.ts';
import { type Desktop, poll, skipUnless, startDesktop, trayHelperMissing } from '../../test/kit/desktop/index.ts';
import { openIcons } from './icons.node.ts';
import { buildTrayModel } from './menu.ts';
import type { MenuAction, MenuEntry, TrayDriver, TrayModel } from './model.ts';
import { openHelperTray } from './systray2.node.ts';

const icons = openIcons(join(import.meta.dirname, '../../assets/icons'));
const packaged = join(import.meta.dirname, '../../node_modules/systray2/traybin/tray_linux_release');

const separator = (key: string): MenuEntry => ({ is: 'separator', key });
const command = (key: string, label: string): MenuEntry => ({
  is: 'command',
  key,
  label,
  action: { name: 'open', params: { persona: key } },
});
const pause = (checked: boolean): MenuEntry => ({
  is: 'check',
  key: 'pause',
  label: 'Pause notifications',
  checked,
  action: { name: checked ? 'resume' : 'pause', params: {} },
});
function model(rows: readonly MenuEntry[], parts: Partial<TrayModel> = {}, checked = false): TrayModel {
  return {
    icon: { state: 'up', badge: '3' },
    summary: '3 unread',
    count: '3',
    attention: false,
    menu: [{ is: 'text', key: 'summary', label: '3 unread' }, separator('1'), ...rows, separator('2'), pause(checked)],
    ...parts,
  };
}

interface HelperScene extends AsyncDisposable {
  readonly driver: TrayDriver;
  readonly folder: string;
  readonly wanted: MenuAction[];
  readonly states: string[];
}

interface StartOptions {
  readonly binary?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The first waits of a second are cut to this. */
  readonly second?: number;
}

function startTray({ binary = packaged, env = {}, second = 1000 }: StartOptions): HelperScene {
  const folder = join(mkdtempSync(join(tmpdir(), 'hivebar-tray-')), 'helper');
  const wanted: MenuAction[] = [];
  const states: string[] = [];
  const driver = openHelperTray({
    prepareBinary: () => binary,
    folder,
    platform: 'linux',
    env: { PATH: process.env.PATH, ...env },
    icons,
    events: { onAction: (w) => wanted.push(w), onState: (s) => states.push(s) },
    clock: { ...realClock, after: (ms, run) => realClock.after((ms * second) / 1000, run) },
    log: silentLog,
  });
  return {
    driver,
    folder,
    wanted,
    states,
    [Symbol.asyncDispose]: async () => {
      await driver[Symbol.asyncDispose]();
      rmSync(join(folder, '..'), { recursive: true });
    },
  };
}

const isOn = (tray: HelperScene) => () => tray.states.at(-1) === 'on (tray helper)' || null;

describe('the helper on a real panel', { skip: skipUnless(trayHelperMissing()) }, () => {
  let desktop: Desktop;
  before(async () => {
    desktop = await startDesktop({ notify: 'none' });
  });
  after(() => desktop[Symbol.asyncDispose]());

  test('it starts from a package that lacks the executable bit, shows its icon, and reports clicks', async () => {
    assert.equal(statSync(packaged).mode & 0o111, 0);
    await using tray = startTray({ env: desktop.env });
    tray.driver.show(model([command('ada', 'ada - 3 unread'), command('dev_ops', 'dev_ops - no unread')]));
    await poll(() => `helper, but ${tray.states.join(', ')}`, isOn(tray));
    await desktop.tray.waitLabel(/^ada - 3 unread$/);
    const text = 'ada - 3 unread\ndev_ops - no unread\n---\nPause notifications\n---';
    assert.equal(await desktop.tray.text(), `3 unread (off)\n---\n${text}`);
    const icon = await desktop.tray.icon();
    assert.ok(icon.is === 'file' && icon.bytes.equals(icons.png({ state: 'up', badge: '3' })));
    await desktop.tray.click('dev_ops - no unread');
    await poll(
      () => 'click',
      () => tray.wanted.length > 0 || null,
    );
    assert.deepEqual(tray.wanted, [{ name: 'open', params: { persona: 'dev_ops' } }]);
    assert.equal(statSync(tray.folder).mode & 0o777, 0o700);
  });

  test('rows appear, change and go; a click goes to what stands there now', async () => {
    await using tray = startTray({ env: desktop.env });
    tray.driver.show(model([command('ada', 'ada')]));
    await desktop.tray.waitLabel(/^ada$/);
    tray.driver.show(model([command('bo', 'bo - DOWN'), command('ada', 'ada')]));
    await desktop.tray.waitLabel(/^bo - DOWN$/);
    await desktop.tray.click('bo - DOWN');
    await poll(
      () => 'click',
      () => tray.wanted.length > 0 || null,
    );
    assert.deepEqual(tray.wanted, [{ name: 'open', params: { persona: 'bo' } }]);
    tray.driver.show(model([command('cy', 'cy')]));
    await desktop.tray.waitLabel(/^cy$/);
    await poll(
      () => 'short menu',
      async () => !(await desktop.tray.text()).includes('ada') || null,
    );
  });

  test('the check mark comes and goes with the pause, however often the menu is sent', async () => {
    await using tray = startTray({ env: desktop.env });
    for (let i = 0; i < 3; i += 1) {
      tray.driver.show(model([command('ada', `ada ${i}`)], {}, true));
      await desktop.tray.waitLabel(/^✓ Pause notifications$/);
    }
    tray.driver.show(model([command('ada', 'ada')], {}, false));
    await desktop.tray.waitLabel(/^Pause notifications$/);
  });

  test('the menu of the board is usable without submenus: a row opens its persona, switches stand at top level', async () => {
    await using tray = startTray({ env: desktop.env });
    const board = createBoard(silentLog);
    const at = Date.now();
    const seen = {
      is: 'polled',
      at,
      health: { is: 'up', since: at },
      urgent: exactly(0),
      agentState: { is: 'live' },
    } as const;
    for (const [persona, source, unread] of [
      ['dev_ops', 'local', 2],
      ['river', 'kijito', 0],
      ['gone', 'local', 1],
    ] as const) {
      const plain = { address: persona, label: persona, stem: persona, eventsFile: null, lastEventId: null };
      board.put({ is: 'joined', at, persona, source, staleAfterMs: 60_000, ...plain });
      board.put({ ...seen, persona, unread: exactly(unread), cursor: 1 });
    }
    board.put({ is: 'hidden', at, persona: 'gone', hidden: true });
    board.put({ is: 'quiet', at, on: true, until: { is: 'never' } });
    board.put({ is: 'autostart', at, on: false });
    tray.driver.show(buildTrayModel(board.snapshot(), at, () => ''));
    await desktop.tray.waitLabel(/^dev_ops - 2 unread$/);
    assert.deepEqual((await desktop.tray.text()).split('\n'), [
      '2 unread (off)',
      '---',
      'local (off)',
      'dev_ops - 2 unread',
      'kijito (off)',
      'river - no unread',
      'Hidden (1)',
      '---',
      'Open status page',
      'Poll now',
      'Pause notifications',
      '✓ Quiet hours',
      'Start at login',
      '---',
      'Quit',
    ]);
    const labels = ['dev_ops - 2 unread', 'Hidden (1)', 'Pause notifications', '✓ Quiet hours', 'Start at login'];
    for (const [index, label] of labels.entries()) {
      await desktop.tray.click(label);
      // As a person clicks: the helper drops what is clicked while it still reports the click before.
      await poll(
        () => `click on ${label}`,
        () => tray.wanted.length === index + 1 || null,
      );
    }
    assert.deepEqual(tray.wanted, [
      { name: 'open', params: { persona: 'dev_ops' } },
      { name: 'page', params: {} },
      { name: 'pause', params: {} },
      { name: 'quiet-hours', params: { on: false } },
      { name: 'autostart', params: { on: true } },
    ]);
  });

  test('the icon changes with the state', async () => {
    await using tray = startTray({ env: desktop.env });
    tray.driver.show(model([]));
    await desktop.tray.item();
    tray.driver.show(model([], { icon: { state: 'down', badge: 'none' } }));
    const wanted = icons.png({ state: 'down', badge: 'none' });
    await poll(
      () => 'red icon',
      async () => {
        const icon = await desktop.tray.icon().catch(() => null); // its file is replaced while we look
        return (icon?.is === 'file' && icon.bytes.equals(wanted)) || null;
      },
    );
  });

  test('killed, it comes back with the last menu', async () => {
    await using tray = startTray({ env: desktop.env, second: 150 });
    tray.driver.show(model([command('ada', 'ada - 3 unread')]));
    await desktop.tray.waitLabel(/^ada - 3 unread$/);
    const { pid } = await desktop.tray.item();
    process.kill(pid, 'SIGKILL');
    await poll(
      () => 'another helper',
      async () => {
        const item = (await desktop.tray.items()).at(-1);
        return (item !== undefined && item.pid !== pid) || null;
      },
    );
    await desktop.tray.waitLabel(/^ada - 3 unread$/);
    assert.match(tray.states[1] ?? '', /^off \(tray helper: ended with SIGKILL.*; starting again\)$/);
  });

  test('disposed, it is gone within the second that it is given, and so are its files', async () => {
    const tray = startTray({ env: desktop.env });
    tray.driver.show(model([]));
    const { pid } = await desktop.tray.item();
    const began = performance.now();
    await tray.driver[Symbol.asyncDispose]();
    assert.ok(performance.now() - began < 900);
    assert.ok(!existsSync(`/proc/${pid}`));
    rmSync(join(tray.folder, '..'), { recursive: true });
  });

  test('without a display it says why and stops trying after five times', async () => {
    await using tray = startTray({ env: { DISPLAY: ':4095' }, second: 150 });
    await poll(
      () => 'the end of it',
      () => /^off (?!.*again)/.test(tray.states.at(-1) ?? '') || null,
    );
    assert.equal(tray.states.length, 5);
    assert.match(tray.states.at(-1) ?? '', /^off \(tray helper: .*display/);
  });
});

describe('a helper that misbehaves', () => {
  const scripts = mkdtempSync(join(tmpdir(), 'hivebar-stand-in-'));
  after(() => rmSync(scripts, { recursive: true }));
  const standIn = (name: string, body: string): string => {
    const path = join(scripts, name);
    writeFileSync(path, `#!/usr/bin/env node\n${body}`, { mode: 0o644 });
    return path;
  };
  const READY = `process.stdout.write('Gtk-WARNING: chatter\\n{"type":"ready"}\\n');`;

  test('one that dies before it is ready does not hang the start, and its last words are told', async () => {
    const binary = standIn(
      'dies',
      `console.error('error while loading shared libraries: libfoo.so'); process.exit(127);`,
    );
    await using tray = startTray({ binary });
    await poll(
      () => 'state',
      () => tray.states.length > 0 || null,
    );
    assert.deepEqual(tray.states, [
      'off (tray helper: ended with code 127: error while loading shared libraries: libfoo.so; starting again)',
    ]);
  });

  test('one that never gets ready is ended after ten seconds', async () => {
    const binary = standIn(
      'silent',
      `require('fs').writeFileSync(process.env.NOTE, String(process.pid)); setInterval(() => {}, 1000);`,
    );
    const note = join(scripts, 'silent.pid');
    await using tray = startTray({ binary, env: { NOTE: note }, second: 80 });
    await poll(
      () => 'state',
      () => tray.states.length > 0 || null,
    );
    assert.deepEqual(tray.states, ['off (tray helper: not ready after 10 s; starting again)']);
    const pid = readFileSync(note, 'utf8');
    await poll(
      () => 'its end',
      () => !existsSync(`/proc/${pid}`) || null,
    );
  });

  test('exit code 0 without being asked is a death like any other', async () => {
    const binary = standIn('zero', `${READY} setTimeout(() => process.exit(0), 20);`);
    await using tray = startTray({ binary });
    await poll(
      () => 'state',
      () => tray.states.length === 2 || null,
    );
    assert.deepEqual(tray.states, ['on (tray helper)', 'off (tray helper: ended with code 0; starting again)']);
  });

  test('one that ignores exit and SIGTERM is killed, and what it wrote of chatter is skipped', async () => {
    const binary = standIn('stubborn', `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); ${READY}`);
    const tray = startTray({ binary, second: 200 });
    await poll(() => 'ready', isOn(tray));
    await tray[Symbol.asyncDispose]();
  });

  test('the model it is shown stays as it was, and the first line is the whole menu with slots to spare', async () => {
    const note = join(scripts, 'lines');
    const binary = standIn(
      'notes',
      `const fs = require('fs'); process.stdin.on('data', (d) => fs.appendFileSync(process.env.NOTE, d)); process.stdin.on('end', () => process.exit()); ${READY}`,
    );
    await using tray = startTray({ binary, env: { NOTE: note } });
    const shown = model([command('ada', 'ada')]);
    const text = JSON.stringify(shown);
    tray.driver.show(shown);
    tray.driver.show(model([command('ada', 'ada'), command('bo', 'bo')]));
    await poll(() => 'ready', isOn(tray));
    tray.driver.show(model([command('ada', 'ada'), command('bo', 'bo - DOWN')]));
    tray.driver.show(model([command('ada', 'ada'), command('bo', 'bo - DOWN')]));
    const lines = await poll(
      () => 'two lines',
      () => {
        const all = existsSync(note) ? readFileSync(note, 'utf8').trim().split('\n') : [];
        return all.length >= 2 ? all.map((line) => JSON.parse(line) as Record<string, unknown>) : null;
      },
    );
    assert.equal(JSON.stringify(shown), text);
    assert.equal(lines.length, 2);
    const items = lines[0]?.items as { title: string; hidden: boolean; enabled: boolean; __id: number }[];
    assert.deepEqual(
      items.filter((i) => !i.hidden).map((i) => i.title),
      ['3 unread', '<SEPARATOR>', 'ada', 'bo', '<SEPARATOR>', 'Pause notifications', '<SEPARATOR>'],
    );
    assert.equal(items.filter((i) => i.hidden).length, 60);
    const changed = lines[1]?.item as { title: string };
    assert.deepEqual([lines[1]?.type, changed.title], ['update-item', 'bo - DOWN']);
  });

  test('a helper of the same name in the current folder is never run', async () => {
    const note = join(scripts, 'planted.ran');
    const planted = `#!/bin/sh\ntouch ${note}\n`;
    const trap = join(scripts, 'cloned-repository');
    mkdirSync(join(trap, 'traybin'), { recursive: true });
    for (const name of ['traybin/tray_linux_release', 'hivebar-tray']) {
      writeFileSync(join(trap, name), planted, { mode: 0o755 });
    }
    const home = process.cwd();
    process.chdir(trap);
    try {
      const binary = standIn('own', `${READY} process.stdin.on('end', () => process.exit()).resume();`);
      await using tray = startTray({ binary });
      await poll(() => 'ready', isOn(tray));
      assert.deepEqual(readdirSync(tray.folder).toSorted(), ['hivebar-tray', 'tmp']);
    } finally {
      process.chdir(home);
    }
    assert.ok(!existsSync(note));
  });

  test('a helper that is not there is said to be so', async () => {
    await using tray = startTray({ binary: join(scripts, 'nothing') });
    await poll(
      () => 'state',
      () => tray.states.length > 0 || null,
    );
    assert.match(tray.states[0] ?? '', /^off \(tray helper: ENOENT/);
  });
});
