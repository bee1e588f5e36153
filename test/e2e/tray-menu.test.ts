import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { getAssetPath } from '../../app/package.node.ts';
import { openIcons } from '../../app/tray/index.ts';
import { openDatabase } from '../../core/state/index.ts';
import {
  type Desktop,
  desktopMissing,
  type MenuEntry,
  poll,
  skipUnless,
  startDesktop,
  type Tray,
} from '../kit/desktop/index.ts';
import { pushedTo, standIn, type TrayHome, type TrayProcess, trayHome } from '../kit/tray-process.ts';

const skip = skipUnless(desktopMissing());

/** Markup, mnemonics, a line end, an escape sequence, an override and a hundred kilobytes. */
const HOSTILE = {
  from: '<b>eve</b>_&_\u202eexe',
  content: `<a href="http://x">click</a> _file_\n\u001b[31mred\u001b[0m \u202etxt.exe ${'A'.repeat(100_000)}`,
};

describe('the menu of the tray, worked over D-Bus as a panel does', { skip }, () => {
  let desktop: Desktop;
  let rig: Rig;
  before(async () => {
    desktop = await startDesktop({ notify: 'none' });
    rig = await start();
  });
  after(async () => {
    await rig?.[Symbol.asyncDispose]();
    await desktop?.[Symbol.asyncDispose]();
  });

  interface Rig extends AsyncDisposable {
    readonly home: TrayHome;
    readonly process: TrayProcess;
    readonly tray: Tray;
    /** What the stand-in for xdg-open was given. */
    readonly opened: readonly string[];
    send(to: string, from: string, content: string): Promise<void>;
    /** The same from a name that is refused today, as an earlier version stored it. */
    keep(to: string, from: string, content: string): Promise<void>;
  }

  /** The tests share one process, each with personas of its own, where nothing else is said. */
  async function start(): Promise<Rig> {
    const home = trayHome();
    const browsers = standIn(home, 'xdg-open', desktop.env.PATH);
    const process = await home.start([], { ...session(desktop), ...browsers.env });
    return {
      home,
      process,
      tray: desktop.tray.of(process.pid),
      get opened() {
        return browsers.calls;
      },
      send: async (to, from, content) => void (await process.post('/api/send', { to, from, content })),
      keep: async (to, from, content) => {
        {
          using db = openDatabase(home.at('hivebar.sqlite'));
          const row = 'INSERT INTO inbox (persona, from_, urgent, created, content) VALUES (?, ?, 0, ?, ?)';
          db.prepare(row).run(to, from, Date.now(), content);
        }
        await process.post('/api/v1/actions/hive-changed', {});
      },
      [Symbol.asyncDispose]: async () => {
        await process[Symbol.asyncDispose]();
        home[Symbol.dispose]();
      },
    };
  }

  /** The entries behind the row that begins so. */
  async function behind(tray: Tray, row: RegExp): Promise<readonly MenuEntry[]> {
    await tray.waitLabel(row);
    return (await tray.menu()).find(({ label }) => row.test(label))?.children ?? [];
  }
  const labels = (entries: readonly MenuEntry[]): string[] => entries.map(({ label }) => label);

  test('a persona is muted in its submenu, JSON and row say so, and unmuted again', async () => {
    await rig.send('ada', 'bo', 'hello');
    await rig.tray.waitLabel(/^ada - 1 unread( · .*)?$/);
    await rig.tray.click('ada - 1 unread/Mute for 1 hour');
    const { muted } = await rig.process.persona('ada', (ada) => ada.muted !== null);
    const ends = Date.parse(String(muted)) - Date.now();
    assert.ok(ends > 3_500_000 && ends <= 3_600_000, `${ends} ms from now`);
    const row = await rig.tray.waitLabel(/^ada - 1 unread, muted until (\d\d:\d\d|\w{3} .*) · bo: hello/);
    await rig.tray.click(`${row.replace(/ · .*/, '')}/Unmute`);
    await rig.process.persona('ada', (ada) => ada.muted === null);
    await rig.tray.waitLabel(/^ada - 1 unread( · .*)?$/);
    await rig.tray.click('ada - 1 unread/Mute until unmuted');
    await rig.process.persona('ada', (ada) => ada.muted === 'forever');
    await rig.tray.waitLabel(/^ada - 1 unread, muted · bo: hello/);
  });

  test('the latest five messages are behind the row, literally, in one line each; a click opens the persona', async () => {
    for (let i = 1; i <= 5; i += 1) await rig.send('dev_ops', 'bo', `mail ${i}`);
    await rig.keep('dev_ops', HOSTILE.from, HOSTILE.content);
    await rig.tray.waitLabel(/^dev_ops - 6 unread( · .*)?$/);
    await rig.tray.waitLabel(/^<b>eve/);
    const five = labels(await behind(rig.tray, /^dev_ops - 6 unread · /)).slice(0, 6);
    const hostile = five.shift() ?? '';
    assert.match(
      hostile,
      /^<b>eve<\/b>_&_\\u202eexe · (now|1 min) · <a href="http:\/\/x">click<\/a> _file_ red txt\.exe A+…$/,
    );
    assert.ok(hostile.length < 110, hostile);
    assert.deepEqual(
      five.map((line) => line.replace(/ (now|1 min) /, ' AGE ')),
      ['bo · AGE · mail 5', 'bo · AGE · mail 4', 'bo · AGE · mail 3', 'bo · AGE · mail 2', ''],
    );
    await rig.tray.click(`dev_ops - 6 unread/${hostile}/Open session`);
    await poll(
      () => `an opened persona, only ${rig.opened.join(' ')}`,
      () => rig.opened.some((url) => /#once=[\w-]+&persona=dev_ops$/.test(url)) || null,
    );
  });

  test('one message is marked as read, and no other', async () => {
    for (const text of ['first', 'second', 'third']) await rig.send('fay', 'bo', text);
    await rig.tray.waitLabel(/^fay - 3 unread( · .*)?$/);
    const second = labels(await behind(rig.tray, /^fay - 3 unread · /)).find((label) => /second$/.test(label));
    await rig.tray.click(`fay - 3 unread/${second}/Mark as read`);
    await rig.tray.waitLabel(/^fay - 2 unread( · .*)?$/);
    const headers = { authorization: `Bearer ${rig.process.token}` };
    const url = `${rig.process.url}/api/inbox?persona=fay&mark_read=false&unread_only=true`;
    const inbox = await fetch(url, { headers });
    const { result } = (await inbox.json()) as { readonly result: readonly { readonly content: string }[] };
    assert.deepEqual(
      result.map(({ content }) => content),
      ['third', 'first'],
    );
  });

  test('all is marked as read only where there is something to mark, and the count goes to none', async () => {
    await rig.send('cy', 'bo', 'one');
    await rig.send('cy', 'bo', 'two');
    await rig.tray.waitLabel(/^cy - 2 unread( · .*)?$/);
    await rig.tray.click('cy - 2 unread/Mark all as read');
    await rig.process.persona('cy', ({ unread }) => unread === 0);
    const rest = labels(await behind(rig.tray, /^cy - no unread$/));
    assert.ok(!rest.includes('Mark all as read'), rest.join('\n'));
    assert.ok(
      rest.some((label) => /two$/.test(label)),
      'its messages stay in sight',
    );
  });

  test('notifications are paused for a time, say until when, and are resumed', async () => {
    await rig.tray.waitLabel(/^Pause notifications$/);
    await rig.tray.click('Pause notifications/For 30 minutes');
    const { notifications } = await rig.process.until('a pause', (status) => status.notifications.pausedUntil !== null);
    const ends = Date.parse(String(notifications.pausedUntil)) - Date.now();
    assert.ok(ends > 1_700_000 && ends <= 1_800_000, `${ends} ms from now`);
    const row = await rig.tray.waitLabel(/^Notifications paused until .*$/);
    await rig.tray.click(`${row}/Resume`);
    await rig.process.until('no pause', (status) => status.notifications.pausedUntil === null);
    await rig.tray.waitLabel(/^Pause notifications$/);
    await rig.tray.click('Pause notifications/Until tomorrow');
    await rig.tray.waitLabel(/^Notifications paused until .*08:00$/);
  });

  test('quiet hours are a true check box, switched on and off', async () => {
    const box = async (tray: Tray): Promise<MenuEntry> => {
      await tray.waitLabel(/^Quiet hours/);
      const found = (await tray.menu()).find(({ label }) => label.startsWith('Quiet hours'));
      assert.ok(found);
      return found;
    };
    assert.equal((await box(rig.tray)).checked, false);
    await rig.tray.click((await box(rig.tray)).label);
    await poll(
      () => 'a check mark',
      async () => (await box(rig.tray)).checked || null,
    );
    await rig.tray.click((await box(rig.tray)).label);
    await poll(
      () => 'no check mark',
      async () => (await box(rig.tray)).checked === false || null,
    );
  });

  test('who is hidden leaves the menu, and comes back from behind "Hidden"', async () => {
    await rig.send('di', 'bo', 'one');
    await rig.tray.waitLabel(/^di - 1 unread( · .*)?$/);
    const { totals } = await rig.process.status();
    await rig.tray.click('di - 1 unread/Hide');
    await rig.tray.waitLabel(/^Hidden \(1\)$/);
    const rows = labels(await rig.tray.menu());
    assert.ok(!rows.some((row) => row.startsWith('di')), rows.join('\n'));
    await rig.process.until('one less', (now) => now.totals.unread === (totals.unread ?? 0) - 1);
    assert.ok((await rig.process.persona('di')).hidden, 'in the JSON it stays');
    await rig.tray.click('Hidden (1)/Show di again');
    await rig.tray.waitLabel(/^di - 1 unread( · .*)?$/);
    assert.ok(!labels(await rig.tray.menu()).some((row) => row.startsWith('Hidden')));
  });

  test('what an agent asks stands at the top with a mark on the icon; an option answers it, and both are gone', async () => {
    const icons = openIcons(getAssetPath('icons'));
    const badge = (name: 'ask' | 'none' | '1') => async (): Promise<true | null> => {
      const pixmaps = icons.pixmaps({ state: 'up', badge: name });
      return isDeepStrictEqual(await asker.tray.icon(), { is: 'pixmaps', pixmaps }) || null;
    };
    await using asker = await start();
    await asker.send('quinn', 'bo', 'hello');
    await asker.tray.waitLabel(/^quinn - 1 unread( · .*)?$/);
    await asker.tray.click('quinn - 1 unread/Mark all as read');
    await poll(() => 'a plain icon', badge('none'));
    const ask = ['decision', 'create', '--as', 'quinn', '--option', 'a=the long way', '--option', 'b=the short_way'];
    const asked = await asker.home.run([...ask, '--default', 'a', '--context', 'It rains.', '--json', 'Which way?']);
    assert.deepEqual([asked.code, asked.stderr], [0, '']);
    const row = await asker.tray.waitLabel(/^quinn asks: Which way\?$/);
    assert.deepEqual(labels(await asker.tray.menu()).slice(0, 2), [row, '1 question for you']);
    assert.deepEqual(labels(await behind(asker.tray, /^quinn asks/)), [
      'It rains.',
      'the long way (chosen by itself in 23 h)',
      'the short_way',
      '',
      'Answer on the page',
    ]);
    await asker.tray.waitLabel(/^quinn - no unread, waiting for your answer$/);
    await poll(() => 'a mark on the icon', badge('ask'));
    await asker.tray.click('quinn asks: Which way?/Answer on the page');
    await poll(
      () => `an opened persona, only ${asker.opened.join(' ')}`,
      () => asker.opened.some((url) => /&persona=quinn$/.test(url)) || null,
    );
    await asker.tray.click('quinn asks: Which way?/the short_way');
    await poll(() => 'a plain icon again, since the answer is for quinn', badge('none'));
    await asker.tray.waitLabel(/^quinn - no unread$/);
    assert.ok(!labels(await asker.tray.menu()).some((label) => / asks: /.test(label)));
    const { id } = JSON.parse(asked.stdout) as { readonly id: number };
    const answered = JSON.parse((await asker.home.run(['decision', 'show', String(id), '--json'])).stdout);
    assert.deepEqual([answered.state, answered.choice, answered.by], ['resolved', 'b', 'operator']);
    assert.ok(pushedTo(asker.home, 'quinn').includes(`hivebar:decision:${id}`));
  });

  test('of 30 personas ten are behind "more"; the menu grows, sorts and shrinks as they come and go', async () => {
    await using crowd = await start();
    const each = (personas: readonly string[], action: string): Promise<unknown> =>
      Promise.all(personas.map((persona) => crowd.process.post(`/api/v1/actions/${action}`, { persona })));
    const names = Array.from({ length: 30 }, (_, i) => `p${String(i).padStart(2, '0')}`);
    await Promise.all(names.map((name) => crowd.send(name, 'bo', 'hello')));
    await crowd.tray.waitLabel(/^10 more - 10 unread$/);
    await each(names.slice(0, 25), 'read');
    await crowd.tray.waitLabel(/^5 unread$/);
    await crowd.tray.waitLabel(/^10 more$/);
    const rows = labels(await crowd.tray.menu()).filter((row) => /^p\d\d /.test(row));
    const unread = rows.slice(0, 5).map((row) => row.replace(/ · .*/, ''));
    assert.deepEqual(
      unread.toSorted(),
      names.slice(25).map((name) => `${name} - 1 unread`),
    );
    assert.match(rows[5] ?? '', /^p\d\d - no unread$/);
    const [more] = labels(await behind(crowd.tray, /^10 more$/));
    await crowd.tray.click(`10 more/${more}/Poll now`);
    await each(names.slice(0, 12), 'hide');
    await crowd.tray.waitLabel(/^Hidden \(12\)$/);
    const after = labels(await crowd.tray.menu());
    assert.equal(after.filter((row) => /^p\d\d /.test(row)).length, 18);
    assert.ok(!after.some((row) => / more/.test(row)), after.join('\n'));
  });

  test('a thousand mails in a burst: the panel is told twice a second at most, and the last number is right', async () => {
    await rig.send('eve', 'bo', 'first');
    await rig.tray.waitLabel(/^eve - 1 unread( · .*)?$/);
    const { service } = await rig.tray.item();
    let reported = 0;
    using _ = desktop.bus.signals({ sender: service, iface: 'com.canonical.dbusmenu' }, () => {
      reported += 1;
    });
    const began = performance.now();
    for (let sent = 0; sent < 1000; sent += 20) {
      await Promise.all(Array.from({ length: 20 }, (_, i) => rig.send('eve', 'bo', `mail ${sent + i}`)));
    }
    await rig.tray.waitLabel(/^eve - 1001 unread( · .*)?$/);
    const seconds = (performance.now() - began) / 1000;
    // Properties and layout are two signals of one drawing.
    assert.ok(reported >= 1 && reported <= 2 * (2 * seconds + 2), `${reported} signals in ${seconds} s`);
    await sleep(700);
    const quiet = reported;
    await sleep(1500);
    assert.equal(reported, quiet, 'nothing is drawn when nothing changes');
  });
});

/** What a program needs to be on this desktop, and no more. */
function session({ env }: Desktop): Record<string, string> {
  const names = ['DBUS_SESSION_BUS_ADDRESS', 'DISPLAY', 'XDG_RUNTIME_DIR'];
  return Object.fromEntries(names.map((name) => [name, env[name] ?? '']));
}
