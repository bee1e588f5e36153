import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { openIcons } from '../../app/tray/index.ts';
import { browserFor } from '../kit/browser.ts';
import { type Desktop, desktopMissing, poll, startDesktop, trayHelperMissing } from '../kit/desktop/index.ts';
import { needs } from '../kit/require.ts';
import { standIn, type TrayHome, type TrayProcess, trayHome } from '../kit/tray-process.ts';

const icons = openIcons(join(import.meta.dirname, '../../assets/icons'));

interface TrayKind {
  readonly args: readonly string[];
  readonly missing: () => string | null;
  /** What opens a persona: its row, or an entry behind it. */
  readonly opens: (row: string) => string;
  /** The entry that pauses until resumed, and resumes. */
  readonly pauses: (on: boolean) => string;
}

const TRAYS: Readonly<Record<string, TrayKind>> = {
  'by default': {
    args: [],
    missing: desktopMissing,
    opens: (row) => `${row}/Open on status page`,
    pauses: (on) => (on ? 'Pause notifications/Until resumed' : 'Notifications paused/Resume'),
  },
  // No submenus, and no check boxes on Linux: there a mark stands before the words.
  'with --tray-driver systray2': {
    args: ['--tray-driver', 'systray2'],
    missing: trayHelperMissing,
    opens: (row) => row,
    pauses: (on) => (on ? 'Pause notifications' : '✓ Pause notifications'),
  },
};

/** Waits until the panel was given exactly this picture. */
async function waitIcon(desktop: Desktop, state: 'up' | 'paused', badge: 'none' | '1' | '2'): Promise<void> {
  await poll(
    () => `icon ${state}-${badge}`,
    async () => {
      const icon = await desktop.tray.icon().catch(() => null); // the file of a picture that was just replaced
      if (icon === null) return null;
      if (icon.is === 'file') return icon.bytes.equals(icons.png({ state, badge })) || null;
      const wanted = icons.pixmaps({ state, badge });
      const same = icon.pixmaps.map(({ argb }, i) => wanted[i]?.argb.equals(argb) === true);
      return (same.length === wanted.length && same.every(Boolean)) || null;
    },
  );
}

/** Two personas that have read their mail. */
async function twoPersonas(home: TrayHome): Promise<void> {
  for (const to of ['ada', 'bo']) {
    assert.equal((await home.run(['send', '--to', to, '--from', 'me', 'first'])).code, 0);
    assert.equal((await home.run(['inbox', 'read', to])).code, 0);
  }
}

async function started(t: TestContext, kind: TrayKind) {
  if (needs(t, kind.missing())) return null;
  const stack = new AsyncDisposableStack();
  const desktop = stack.use(await startDesktop());
  const home = stack.use(trayHome());
  const browsers = standIn(home, 'xdg-open', desktop.env.PATH);
  await twoPersonas(home);
  const start = async (): Promise<TrayProcess> =>
    stack.use(await home.start(kind.args, { ...desktop.env, ...browsers.env, ...home.env, ...session(desktop) }));
  return { stack, desktop, home, opened: browsers, start };
}

/** What a program needs to be on this desktop, and no more. */
function session({ env }: Desktop): Record<string, string> {
  const names = ['DBUS_SESSION_BUS_ADDRESS', 'DISPLAY', 'XDG_RUNTIME_DIR', 'XDG_CURRENT_DESKTOP'];
  return Object.fromEntries(names.map((name) => [name, env[name] ?? '']));
}

for (const [name, kind] of Object.entries(TRAYS)) {
  describe(`${name}, under a real panel and a real notification daemon`, { concurrency: true }, () => {
    test('one send raises badge, menu row, notification, JSON, page and event file to one number; reading brings all to 0', async (t) => {
      const rig = await started(t, kind);
      if (rig === null) return;
      await using _ = rig.stack;
      const { desktop, home } = rig;
      const browser = await browserFor(t);
      if (browser === null) return;
      rig.stack.defer(() => browser.close());
      const tray = await rig.start();
      await tray.until('two personas', ({ totals }) => totals.up === 2);
      const page = await browser.newPage();
      await page.goto(`${tray.url}/`);
      await page.locator('#link[data-link="live"]').waitFor();
      await waitIcon(desktop, 'up', 'none');
      const news = (): number => home.mail('ada').length - before;
      const before = home.mail('ada').length;

      const sent = await home.run(['send', '--to', 'ada', '--from', 'bo', 'please review']);
      assert.deepEqual([sent.code, sent.stderr], [0, '']);
      await waitIcon(desktop, 'up', '1');
      await desktop.tray.waitLabel(/^ada - 1 unread( · .*)?$/);
      await desktop.tray.waitLabel(/^1 unread$/);
      const banner = await desktop.notifications.wait(/^ada: 1 new\nbo: please review$/);
      const status = await tray.until('1 unread', ({ totals }) => totals.unread === 1);
      assert.deepEqual(
        status.personas.map(({ id, unread }) => [id, unread]),
        [
          ['ada', 1],
          ['bo', 0],
        ],
      );
      await page.locator('.card[data-id="ada"] [data-slot="unread"]', { hasText: /^1$/ }).waitFor();
      assert.match(await page.title(), /^\(1\) /);
      assert.equal(news(), 1);
      assert.deepEqual(home.events('ada').at(-1)?.content, 'please review');

      assert.equal((await home.run(['inbox', 'read', 'ada'])).code, 0);
      await waitIcon(desktop, 'up', 'none');
      await desktop.tray.waitLabel(/^ada - no unread$/);
      await desktop.tray.waitLabel(/^No unread messages$/);
      await tray.until('0 unread', ({ totals }) => totals.unread === 0);
      await page
        .locator('.card[data-id="ada"] [data-slot="unread"]', { hasText: /^0$/ })
        .waitFor({ state: 'attached' });
      assert.doesNotMatch(await page.title(), /\(/);
      const closed = await poll(
        () => 'the withdrawal of the banner',
        async () => (await desktop.notifications.list()).find(({ id }) => id === banner.id)?.closed ?? null,
      );
      assert.equal(closed, 3, 'closed by the program');
      assert.equal(news(), 1, 'reading is no event');
    });

    test('clicks: the notification opens its persona, the menu opens the page, polls, pauses and quits', async (t) => {
      const rig = await started(t, kind);
      if (rig === null) return;
      await using _ = rig.stack;
      const { desktop, home, opened } = rig;
      let tray = await rig.start();
      const opens = (url: string): Promise<true> =>
        poll(
          () => `${url}, only ${opened.calls.join(' ')}`,
          () => opened.calls.some((address) => address.replace(/once=[\w-]+&?/, '') === url) || null,
        );
      await tray.until('two personas', ({ totals }) => totals.up === 2);
      await home.run(['send', '--to', 'ada', '--from', 'bo', 'please review']);
      await desktop.notifications.click(/^ada: 1 new/);
      await opens(`${tray.url}/#persona=ada`);

      await desktop.tray.click('Open status page');
      await opens(`${tray.url}/#`);
      await desktop.tray.click(kind.opens('bo - no unread'));
      await opens(`${tray.url}/#persona=bo`);

      const { asOf } = await tray.persona('bo');
      await desktop.tray.click('Poll now');
      await tray.persona('bo', (bo) => bo.asOf !== asOf);

      await desktop.tray.click(kind.pauses(true));
      await waitIcon(desktop, 'paused', '1');
      await desktop.tray.waitLabel(toLabelPattern(kind.pauses(false)));
      await home.run(['send', '--to', 'bo', '--from', 'ada', 'while paused']);
      await waitIcon(desktop, 'paused', '2');
      const { code } = await tray.stop();
      assert.equal(code, 0);

      tray = await rig.start();
      await waitIcon(desktop, 'paused', '2');
      await desktop.tray.waitLabel(toLabelPattern(kind.pauses(false)));
      assert.equal((await tray.status()).notifications.pausedUntil, 'forever', 'a pause outlives the process');
      await desktop.tray.click(kind.pauses(false));
      await waitIcon(desktop, 'up', '2');
      await desktop.tray.waitLabel(toLabelPattern(kind.pauses(true)));
      await home.run(['send', '--to', 'bo', '--from', 'ada', 'after the pause']);
      await desktop.notifications.wait(/^bo: 1 new\nada: after the pause$/);
      const shown = (await desktop.notifications.list()).map(({ summary, body }) => `${summary}|${body}`);
      assert.deepEqual(shown, ['ada: 1 new|bo: please review', 'bo: 1 new|ada: after the pause']);

      await desktop.tray.click('Quit');
      assert.deepEqual(await tray.cli.ended(), { code: 0, signal: null });
      assert.deepEqual(await desktop.tray.items(), []);
    });
  });
}

/** The row at top level that an entry is behind. */
function toLabelPattern(entry: string): RegExp {
  return new RegExp(`^${entry.split('/')[0]}$`);
}
