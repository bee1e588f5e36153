import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { realClock, silentLog } from '../../core/ports/index.ts';
import {
  type Desktop,
  desktopMissing,
  poll,
  skipUnless,
  startDesktop,
  startStrictWatcher,
} from '../../test/kit/desktop/index.ts';
import { type FakeClock, fakeClock } from '../../test/kit/fake-clock.ts';
import { BusError, openSessionBus, type SessionBus } from '../desktop/index.ts';
import { openSniTray } from './choose.node.ts';
import { openIcons } from './icons.node.ts';
import type { MenuAction, MenuCommand, MenuEntry, TrayDriver, TrayModel } from './model.ts';

const run = promisify(execFile);
const skip = skipUnless(desktopMissing());
const icons = openIcons(join(import.meta.dirname, '../../assets/icons'));

const quit: MenuEntry = { is: 'command', key: 'quit', label: 'Quit', action: { name: 'quit', params: {} } };
const row = (id: string, label: string): MenuCommand => ({
  is: 'command',
  key: `persona ${id}`,
  label,
  action: { name: 'open', params: { persona: id } },
});
const pause = (checked: boolean): MenuEntry => ({
  is: 'check',
  key: 'pause',
  label: 'Pause notifications',
  checked,
  action: { name: checked ? 'resume' : 'pause', params: {} },
});
const model = (parts: Partial<TrayModel> = {}): TrayModel => ({
  icon: { state: 'up', badge: '3' },
  summary: '3 unread',
  count: '3',
  attention: false,
  menu: [quit],
  ...parts,
});

interface SniScene extends AsyncDisposable {
  readonly driver: TrayDriver;
  readonly clock: FakeClock;
  readonly bus: SessionBus;
  readonly wanted: MenuAction[];
  readonly states: string[];
}

async function startTray(desktop: Desktop): Promise<SniScene> {
  const bus = await openSessionBus({ env: desktop.env, log: silentLog, clock: realClock });
  assert.ok(bus.is === 'bus');
  const wanted: MenuAction[] = [];
  const states: string[] = [];
  const events = { onAction: (w: MenuAction) => wanted.push(w), onState: (s: string) => states.push(s) };
  const clock = fakeClock();
  const driver = openSniTray(bus, icons, events, clock, silentLog);
  driver.show(model());
  return {
    driver,
    clock,
    bus,
    wanted,
    states,
    [Symbol.asyncDispose]: async () => {
      await driver[Symbol.asyncDispose]();
      await bus[Symbol.asyncDispose]();
    },
  };
}

describe('the tray on a real panel', { skip }, () => {
  let desktop: Desktop;
  before(async () => {
    desktop = await startDesktop({ notify: 'none' });
  });
  after(() => desktop[Symbol.asyncDispose]());

  test('it registers itself, with a tooltip, a category and a title of its own', async () => {
    await using tray = await startTray(desktop);
    const item = await desktop.tray.item();
    assert.equal(item.pid, process.pid);
    assert.deepEqual(
      { id: item.id, category: item.category, status: item.status, title: item.title, tooltip: item.tooltip },
      {
        id: 'hivebar',
        category: 'Communications',
        status: 'Active',
        title: 'Hivebar: 3 unread',
        tooltip: 'Hivebar',
      },
    );
    await poll(
      () => 'state on',
      () => tray.states.at(-1) === 'on (StatusNotifierItem)' || null,
    );
    assert.deepEqual(tray.states, ['on (StatusNotifierItem)']);
  });

  test('its icon is the pre-rendered one, pixel by pixel, in three sizes', async () => {
    await using tray = await startTray(desktop);
    tray.driver.show(model({ icon: { state: 'down', badge: '9+' } }));
    const icon = await desktop.tray.icon();
    assert.deepEqual(icon, { is: 'pixmaps', pixmaps: icons.pixmaps({ state: 'down', badge: '9+' }) });
  });

  test('while the menu is open its rows change in place and never move; the others follow when it closes', async () => {
    await using tray = await startTray(desktop);
    const show = (...rows: readonly MenuEntry[]): void => tray.driver.show(model({ menu: [...rows, quit] }));
    const rows = async (): Promise<string> => (await desktop.tray.openMenu()).map(({ label }) => label).join(', ');
    show(row('ada', 'ada - no unread'), row('bo', 'bo - no unread'));
    await desktop.tray.open();
    show(row('ada', 'ada - 1 unread'), row('bo', 'bo - no unread'));
    assert.equal(await rows(), 'ada - 1 unread, bo - no unread, Quit');
    show(row('bo', 'bo - 2 unread'), row('ada', 'ada - 1 unread'));
    assert.equal(await rows(), 'ada - 1 unread, bo - no unread, Quit');
    await desktop.tray.report('closed');
    assert.equal(await rows(), 'bo - 2 unread, ada - 1 unread, Quit');
    await desktop.tray.report('opened');
    show(row('ada', 'ada - 3 unread'), row('bo', 'bo - 2 unread'));
    show(row('bo', 'bo - 4 unread'), row('ada', 'ada - 1 unread'));
    assert.equal(await rows(), 'bo - 4 unread, ada - 1 unread, Quit', 'the held rows are no longer wanted');
    show(row('ada', 'ada - 3 unread'));
    await desktop.tray.open();
    assert.equal(await rows(), 'ada - 3 unread, Quit', 'opened again by a host that never said that it closed');
    show();
    await tray.clock.advance(20_000);
    assert.equal(await rows(), 'Quit', 'nobody said anything for long');
  });

  test('its menu shows labels as they are, underscores too, and grows and shrinks', async () => {
    await using tray = await startTray(desktop);
    tray.driver.show(model({ menu: [row('dev_ops', 'dev_ops - 3 unread'), { is: 'separator', key: 'line' }, quit] }));
    assert.equal(await desktop.tray.text(), 'dev_ops - 3 unread\n---\nQuit');
    const more: MenuEntry = {
      is: 'submenu',
      key: 'more',
      label: '1 more',
      entries: [row('cy', 'cy - no unread')],
      instead: { is: 'command', key: 'more', label: '1 more', action: { name: 'page', params: {} } },
    };
    tray.driver.show(model({ menu: [row('bo', 'bo - DOWN'), row('dev_ops', 'dev_ops - 4 unread'), more, quit] }));
    assert.equal(await desktop.tray.text(), 'bo - DOWN\ndev_ops - 4 unread\n1 more\n  cy - no unread\nQuit');
    tray.driver.show(model({ menu: [quit] }));
    assert.equal(await desktop.tray.text(), 'Quit');
  });

  test('a changed row keeps its id, and what left the menu never lends its id to another', async () => {
    await using tray = await startTray(desktop);
    const ids = async () => new Map((await desktop.tray.menu()).map((e) => [e.label, e.id]));
    tray.driver.show(model({ menu: [row('ada', 'ada - 1 unread'), row('bo', 'bo'), quit] }));
    const first = await ids();
    tray.driver.show(model({ menu: [row('ada', 'ada - 2 unread'), row('cy', 'cy'), quit] }));
    const second = await ids();
    assert.equal(second.get('ada - 2 unread'), first.get('ada - 1 unread'));
    assert.equal(second.get('Quit'), first.get('Quit'));
    assert.ok(![...first.values()].includes(second.get('cy') ?? -1));
  });

  test('F regression rows keep their ids over LayoutUpdated, and whoever asks for an id that is gone gets an error of its name', async () => {
    await using tray = await startTray(desktop);
    const ids = async () => new Map((await desktop.tray.menu()).map((e) => [e.label, e.id]));
    tray.driver.show(model({ menu: [row('ada', 'ada'), row('bo', 'bo'), quit] }));
    const before = await ids();
    const { menu: path } = await desktop.tray.item();
    const sender = tray.bus.state.is === 'connected' ? tray.bus.state.uniqueName : '';
    let updates = 0;
    using _ = desktop.bus.signals({ sender, iface: 'com.canonical.dbusmenu' }, ({ member }) => {
      if (member === 'LayoutUpdated') updates += 1;
    });
    for (const other of ['cy', 'di', 'ed']) {
      tray.driver.show(model({ menu: [row(other, other), row('ada', 'ada'), quit] }));
      const now = await ids();
      assert.deepEqual([now.get('ada'), now.get('Quit')], [before.get('ada'), before.get('Quit')]);
    }
    await poll(
      () => 'LayoutUpdated',
      () => updates >= 3 || null,
    );
    const gone = before.get('bo') ?? 0;
    const ask = async (member: string, signature: string, body: readonly unknown[]): Promise<string> =>
      desktop.bus.call({ dest: sender, path, iface: 'com.canonical.dbusmenu', member, signature, body }).then(
        () => 'answered',
        (error: unknown) => (error instanceof BusError ? `${error.errorName}` : 'thrown'),
      );
    const failed = 'org.freedesktop.DBus.Error.Failed';
    assert.equal(await ask('GetLayout', 'iias', [gone, -1, []]), failed);
    assert.equal(await ask('GetProperty', 'is', [gone, 'label']), failed);
    assert.equal(await ask('Event', 'isvu', [gone, 'clicked', desktop.bus.variant('i', 0), 0]), failed);
    assert.equal(await ask('AboutToShow', 'i', [gone]), failed);
    assert.equal(await ask('GetLayout', 's', ['x']), 'org.freedesktop.DBus.Error.InvalidArgs');
    assert.deepEqual(tray.wanted, []);
  });

  test('a click on an entry asks for its action; the check box is a real one', async () => {
    await using tray = await startTray(desktop);
    tray.driver.show(model({ menu: [row('ada', 'ada - 3 unread'), pause(false), quit] }));
    await desktop.tray.click('ada - 3 unread');
    await desktop.tray.click('Pause notifications');
    tray.driver.show(model({ menu: [row('ada', 'ada - 3 unread'), pause(true), quit] }));
    assert.equal(await desktop.tray.text(), 'ada - 3 unread\n[x] Pause notifications\nQuit');
    await desktop.tray.click('Pause notifications');
    await desktop.tray.activate();
    assert.deepEqual(tray.wanted, [
      { name: 'open', params: { persona: 'ada' } },
      { name: 'pause', params: {} },
      { name: 'resume', params: {} },
      { name: 'open', params: {} },
    ]);
  });

  test('a real button press on the icon opens the page', async () => {
    await using tray = await startTray(desktop);
    await desktop.tray.item();
    await poll(
      () => 'opened page',
      async () => {
        await desktop.press(1264, 16);
        return tray.wanted.some((w) => w.name === 'open') || null;
      },
    );
  });

  test('what is behind the very first row is there when a person opens it, and can be chosen by keys', async () => {
    await using tray = await startTray(desktop);
    const instead = row('ada', 'ada asks');
    const ask = { is: 'submenu', key: 'decision 1', label: 'ada asks', entries: [row('yes', 'Yes')], instead } as const;
    tray.driver.show(model({ menu: [ask, quit] }));
    await desktop.tray.waitLabel(/^ada asks$/);
    const keys = async (...names: string[]): Promise<void> => {
      for (const name of names) {
        await run('xdotool', ['key', name], { env: desktop.env });
        await sleep(100);
      }
    };
    await poll(
      () => `a chosen entry, only ${JSON.stringify(tray.wanted)}`,
      async () => {
        await desktop.press(1264, 16, 3);
        await sleep(300);
        await keys('Down', 'Right', 'Return');
        await sleep(300);
        if (tray.wanted.length > 0) return true;
        await keys('Escape', 'Escape');
        return null;
      },
    );
    assert.deepEqual(tray.wanted[0], { name: 'open', params: { persona: 'yes' } });
  });

  test('hosts are told of what changed, and only of that', async () => {
    await using tray = await startTray(desktop);
    const item = await desktop.tray.item();
    const reported: string[] = [];
    const sender = tray.bus.state.is === 'connected' ? tray.bus.state.uniqueName : '';
    using _a = desktop.bus.signals({ sender, iface: 'org.kde.StatusNotifierItem' }, (s) => reported.push(s.member));
    using _b = desktop.bus.signals({ sender, iface: 'com.canonical.dbusmenu' }, (s) => reported.push(s.member));
    await desktop.bus.call({ ...busPeer, member: 'GetId' }).catch(() => {}); // the rules are in force after this
    tray.driver.show(model());
    tray.driver.show(model({ summary: '4 unread' }));
    tray.driver.show(model({ summary: '4 unread', menu: [{ ...quit, label: 'Leave' }] }));
    tray.driver.show(model({ summary: '4 unread', menu: [{ ...quit, label: 'Leave' }, pause(false)] }));
    await desktop.tray.waitLabel(/Pause/);
    assert.equal(item.status, 'Active');
    assert.deepEqual(reported, ['NewToolTip', 'NewTitle', 'ItemsPropertiesUpdated', 'LayoutUpdated']);
  });

  test('when the panel is restarted, it is there again', async () => {
    await using tray = await startTray(desktop);
    await desktop.tray.item();
    await desktop.panel.stop();
    await poll(
      () => 'state off',
      () => tray.states.at(-1) === 'off (no tray host)' || null,
    );
    await desktop.panel.start();
    await desktop.tray.item();
    await poll(
      () => 'state on',
      () => tray.states.at(-1) === 'on (StatusNotifierItem)' || null,
    );
  });

  test('once disposed it leaves the panel, though the bus connection stays', async () => {
    await using tray = await startTray(desktop);
    await desktop.tray.item();
    await tray.driver[Symbol.asyncDispose]();
    await poll(
      () => 'empty tray',
      async () => (await desktop.tray.items()).length === 0 || null,
    );
    assert.equal(tray.bus.state.is, 'connected');
  });
});

describe('the tray without a host', { skip }, () => {
  test('S9: it says so once, and appears when a panel comes', async () => {
    await using desktop = await startDesktop({ host: 'none', notify: 'none' });
    await using tray = await startTray(desktop);
    await poll(
      () => 'state',
      () => tray.states.length > 0 || null,
    );
    assert.deepEqual(tray.states, ['off (no tray host)']);
    await desktop.panel.start();
    await desktop.tray.item();
    await desktop.tray.waitLabel(/^Quit$/);
  });

  test('S9: a watcher that takes one bus name or one path, never both joined, accepts it', async () => {
    await using desktop = await startDesktop({ host: 'none', notify: 'none' });
    await using watcher = await startStrictWatcher(desktop.env);
    await using tray = await startTray(desktop);
    await poll(
      () => 'state on',
      () => tray.states.at(-1) === 'on (StatusNotifierItem)' || null,
    );
    assert.deepEqual(watcher.accepted, [`org.kde.StatusNotifierItem-${process.pid}-1`]);
    assert.deepEqual(watcher.refused, []);
    await desktop.tray.click('Quit');
    assert.deepEqual(tray.wanted, [{ name: 'quit', params: {} }]);
  });
});

const busPeer = { dest: 'org.freedesktop.DBus', path: '/org/freedesktop/DBus', iface: 'org.freedesktop.DBus' };
