import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Desktop,
  desktopMissing,
  type NotificationRecord,
  poll,
  skipUnless,
  startDesktop,
} from '../kit/desktop/index.ts';
import { pushedTo, REDIRECTED, type TrayHome, type TrayProcess, trayHome } from '../kit/tray-process.ts';

const skip = skipUnless(desktopMissing());
const DAEMON = { dest: 'org.freedesktop.Notifications', path: '/org/freedesktop/Notifications' } as const;
interface DecisionJson {
  readonly id: number;
  readonly state: string;
  readonly choice: string | null;
  readonly by: string | null;
}

/** Field report S8. */
const S8 = 'Fish & <b>Chips</b> <a href="http://x">click</a> 👩‍👩‍👧 ٱلعربية';

describe('banners on a desktop with buttons (dunst, its menu answered by a script)', { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'hivebar-notify-e2e-'));
  const at = (name: string): string => join(folder, name);
  let desktop: Desktop;
  let dunst: ChildProcess;
  let home: TrayHome;
  let tray: TrayProcess;

  before(async () => {
    desktop = await startDesktop({ host: 'none', notify: 'none' });
    script('menu', `tee '${at('offered')}' | grep -m1 -F "$(cat '${at('choice')}')"`);
    script('xdg-open', `${REDIRECTED}printf '%s\\n' "$1" >> '${at('opened')}'`);
    writeFileSync(
      at('dunstrc'),
      `[global]\n    dmenu = ${at('menu')}\n    idle_threshold = 0\n    sort = no\n    markup = full\n[urgency_normal]\n    timeout = 0\n`,
    );
    dunst = spawn('dunst', ['-conf', at('dunstrc')], { env: desktop.env, stdio: 'ignore' });
    await poll(
      () => 'dunst',
      async () => (await capabilities().catch(() => null)) !== null || null,
    );
    home = trayHome({ primary: { is: 'local' }, answerPermissions: true });
    mkdirSync(sessions(), { recursive: true });
    tray = await home.start(['--no-tray'], {
      DBUS_SESSION_BUS_ADDRESS: desktop.env.DBUS_SESSION_BUS_ADDRESS ?? '',
      PATH: `${folder}${delimiter}${process.env.PATH}`,
    });
    await tray.until('dunst', ({ notifications }) => /^D-Bus, dunst/.test(notifications.state));
  });
  after(async () => {
    await tray?.[Symbol.asyncDispose]();
    home?.[Symbol.dispose]();
    dunst?.kill();
    await desktop?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  const sessions = (): string => join(home.home, '.claude', 'sessions');

  /** Writes what a session of Claude Code, which is this process, does now. */
  function writeSession(status: string, waitingFor?: string): void {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const procStart = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    const now = Date.now();
    const session = {
      ...{ pid: process.pid, sessionId: '5e551011-4e67-4086-b69e-59976a16f847', cwd: '/srv/lab', startedAt: now },
      ...{ procStart, version: '2.1.197', kind: 'interactive', entrypoint: 'cli', name: 'review', status, waitingFor },
      ...{ updatedAt: now, statusUpdatedAt: now },
    };
    writeFileSync(join(sessions(), `${process.pid}.json`), JSON.stringify(session));
  }

  function script(name: string, body: string): void {
    writeFileSync(at(name), `#!/bin/sh\n${body}\n`);
    chmodSync(at(name), 0o755);
  }

  async function capabilities(): Promise<readonly unknown[]> {
    const [list] = await desktop.bus.call({ ...DAEMON, iface: DAEMON.dest, member: 'GetCapabilities' });
    return list as readonly unknown[];
  }

  /** Opens dunst's menu, in which every button of every banner is a line, and takes the one of this banner. */
  async function press(banner: NotificationRecord, button: string): Promise<void> {
    const place = banner.actions.indexOf(button);
    assert.ok(place > 0, `no button ${button}, only ${banner.actions}`);
    writeFileSync(at('choice'), `[${banner.id},${banner.actions[place - 1]}]`);
    await desktop.bus.call({ ...DAEMON, iface: 'org.dunstproject.cmd0', member: 'ContextMenuCall' });
  }

  async function mail(to: string, content: string, from = 'river'): Promise<NotificationRecord> {
    await tray.post('/api/send', { to, from, content });
    return await desktop.notifications.wait(new RegExp(`^${to}: `));
  }

  test('S8: hostile text is what a person reads: no bold, no link, in a daemon that reads markup', async () => {
    assert.ok((await capabilities()).includes('body-markup'));
    const { summary, body } = await mail('fish', S8, '<b>cook</b>');
    assert.equal(summary, 'fish: 1 new');
    assert.doesNotMatch(body, /[<>]/, 'nothing that markup could begin with');
    assert.match(body, /&amp; &lt;b&gt;Chips&lt;\/b&gt; &lt;a href=/);
    assert.doesNotMatch(body, /&amp;(amp|lt|gt);/, 'escaped once');
    const read = body.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
    assert.equal(read.replace(/[\u2068\u2069]/g, ''), `<b>cook</b>: ${S8}`);
  });

  test('a click on a banner opens what it is about', async () => {
    const banner = await mail('clicked', 'open me');
    await press(banner, 'Open');
    const url = await poll(
      () => 'a page that is opened',
      () => (existsSync(at('opened')) ? readFileSync(at('opened'), 'utf8').trim() : null) || null,
    );
    assert.match(url, new RegExp(`^${tray.url}/.*clicked`));
    await gone(banner);
  });

  test('the button "Mute 1 h" mutes its persona, for an hour, and takes the banner down', async () => {
    const banner = await mail('loud', 'again and again');
    await press(banner, 'Mute 1 h');
    const { muted } = await tray.persona('loud', (persona) => JSON.stringify(persona.muted) !== 'null');
    const until = Date.parse(JSON.stringify(muted).match(/\d{4}-[^"]+/)?.[0] ?? '');
    assert.ok(Math.abs(until - Date.now() - 3600_000) < 60_000, JSON.stringify(muted));
    await gone(banner);
    await tray.post('/api/send', { to: 'loud', from: 'river', content: 'and again' });
    await tray.persona('loud', ({ unread }) => unread === 2);
    await sleep(500);
    assert.deepEqual(await listTitles('loud'), ['loud: 1 new']);
  });

  test('the button "Mark as read" marks the message that the banner speaks of', async () => {
    const banner = await mail('reader', 'read me');
    await press(banner, 'Mark as read');
    await tray.persona('reader', ({ unread }) => unread === 0);
    await gone(banner);
  });

  test('who is hidden is gone from the screen, and back with the next mail when shown again', async () => {
    const banner = await mail('shy', 'one');
    await tray.post('/api/v1/actions/hide', { persona: 'shy' });
    await gone(banner);
    await tray.post('/api/send', { to: 'shy', from: 'river', content: 'two' });
    await tray.persona('shy', ({ unread }) => unread === 2);
    await sleep(500);
    assert.deepEqual(await listTitles('shy'), ['shy: 1 new']);
  });

  test('a decision: a banner with its options, of which the one that is pressed answers it and reaches the inbox of who asked', async () => {
    const id = await ask('quest', 'a=the long way', 'b:Short & <b>quick</b>=the short way');
    const banner = await desktop.notifications.wait(/^quest asks\nWhich &lt;way&gt;\?$/);
    assert.deepEqual(banner.actions, [
      'default',
      'Open',
      'answer-1',
      'the long way',
      'answer-2',
      'Short & <b>quick</b>',
    ]);
    await press(banner, 'Short & <b>quick</b>');
    await gone(banner);
    const { state, choice, by } = await shownDecision(id, ({ state }) => state !== 'open');
    assert.deepEqual([state, choice, by], ['resolved', 'b', 'operator']);
    assert.deepEqual(pushedTo(home, 'quest'), [`hivebar:decision:${id}`]);
  });

  test('a decision: a click on the banner opens the page of who asks; answered elsewhere the banner goes, and does not come back', async () => {
    await tray.post('/api/send', { to: 'asker', from: 'river', content: 'hello' });
    await tray.persona('asker');
    const id = await ask('asker', 'a=one', 'b=two');
    const banner = await desktop.notifications.wait(/^asker asks\n/);
    assert.ok(existsSync(at('opened')));
    const before = readFileSync(at('opened'), 'utf8');
    await press(banner, 'Open');
    const opened = await poll(
      () => 'a page that is opened',
      () => readFileSync(at('opened'), 'utf8').slice(before.length).trim() || null,
    );
    assert.match(opened, /persona=asker$/);
    const next = await ask('asker', 'a=one', 'b=two');
    const other = await desktop.notifications.wait(/^asker asks\n/);
    assert.equal((await home.run(['decision', 'respond', String(next), '--select', 'a'])).code, 0);
    await gone(other);
    assert.equal((await shownDecision(id)).state, 'open');
    await sleep(1000);
    const shown = (await desktop.notifications.list()).filter(({ summary }) => summary === 'asker asks');
    assert.equal(shown.length, 2);
  });

  test('a permission prompt: a banner with the whole call, whose buttons allow it once or deny it, and the hook that waits says so', async () => {
    await tray.post('/api/send', { to: 'perm', from: 'river', content: 'hello' });
    const turn = { session_id: 'p1', cwd: '/srv/lab', hook_event_name: 'PermissionRequest', tool_name: 'Bash' };
    const callHook = (command: string) =>
      home.run(['hook', '--harness', 'claude', '--event', 'PermissionRequest', '--persona', 'perm'], {
        stdin: JSON.stringify({ ...turn, tool_input: { command } }),
      });
    for (const [button, behavior] of [
      ['Allow once', 'allow'],
      ['Deny', 'deny'],
    ] as const) {
      const hook = callHook('npm test');
      const banner = await desktop.notifications.wait(/^perm asks to use Bash\n/);
      assert.match(banner.body, /command: npm test/);
      await press(banner, button);
      const { hookSpecificOutput: output } = JSON.parse((await hook).stdout) as {
        readonly hookSpecificOutput: { readonly decision: { readonly behavior: string } };
      };
      assert.equal(output.decision.behavior, behavior);
      await gone(banner);
    }
    // Nobody can read this on a banner, so it can only be denied there.
    const long = callHook('x'.repeat(500));
    const banner = await desktop.notifications.wait(/^perm asks to use Bash\n/);
    assert.deepEqual([banner.actions.includes('Allow once'), banner.actions.includes('Deny')], [false, true]);
    await press(banner, 'Deny');
    assert.match((await long).stdout, /"behavior":"deny"/);
  });

  test('an agent that waits: one banner in plain words with its buttons; it goes when the agent goes on, and the next wait is one more', async () => {
    writeSession('waiting', 'permission prompt');
    const banner = await desktop.notifications.wait(/^review · lab waits at a permission prompt\n/);
    assert.match(banner.body, /^Allow or refuse what it wants to do\.$/);
    for (const label of ['Open session', 'Mute 1 h']) assert.ok(banner.actions.includes(label), label);
    const [row] = (await tray.status()).personas.filter(({ agent }) => agent === 'waiting');
    assert.deepEqual([row?.agentReason, row?.cwd], ['permission', '/srv/lab']);
    assert.match(
      (await home.run(['status'])).stdout,
      /1 agent waits for you, [\s\S]*\nWAITS .*: waits at a permission prompt, /,
    );
    writeSession('busy');
    const isOpen = async (id: number): Promise<boolean> =>
      (await desktop.notifications.open()).some((shown) => shown.id === id);
    await poll(
      () => 'the banner is withdrawn',
      async () => !(await isOpen(banner.id)) || null,
    );
    await tray.until('it goes on', ({ personas }) => personas.some(({ agent }) => agent === 'working'));
    writeSession('waiting', 'input needed');
    await desktop.notifications.wait(/^review · lab waits for your input\n/);
    rmSync(join(sessions(), `${process.pid}.json`));
    await poll(
      () => 'no banner of an agent that is gone',
      async () => (await desktop.notifications.open()).every(({ summary }) => !/waits/.test(summary)) || null,
    );
  });

  test('a banner to try it out is taken by the desktop; without one it is refused with the reason', async () => {
    const accepted = await home.run(['notify', 'test']);
    assert.deepEqual([accepted.code, accepted.stderr], [0, '']);
    assert.match(
      accepted.stdout,
      /^the desktop accepted the banner \(D-Bus, dunst .*\); whether it shows it is up to the desktop\n$/,
    );
    await desktop.notifications.wait(/^Hivebar test\n/);
    dunst.kill();
    await tray.until('no daemon', ({ notifications }) => /unavailable/.test(notifications.state));
    const refused = await home.run(['notify', 'test']);
    assert.deepEqual([refused.code, refused.stdout], [1, '']);
    assert.match(refused.stderr, /^the banner was refused: no notification daemon/);
  });

  async function ask(as: string, ...options: string[]): Promise<number> {
    const flags = options.flatMap((option) => ['--option', option]);
    const { code, stdout, stderr } = await home.run([
      'decision',
      'create',
      '--as',
      as,
      ...flags,
      '--json',
      'Which <way>?',
    ]);
    assert.deepEqual([code, stderr], [0, ''], stdout);
    return (JSON.parse(stdout) as DecisionJson).id;
  }

  async function shownDecision(
    id: number,
    fits: (decision: DecisionJson) => boolean = () => true,
  ): Promise<DecisionJson> {
    return await poll(
      () => `decision ${id}`,
      async () => {
        const decision = JSON.parse(
          (await home.run(['decision', 'show', String(id), '--json'])).stdout,
        ) as DecisionJson;
        return fits(decision) ? decision : null;
      },
    );
  }

  async function gone({ id, summary }: NotificationRecord): Promise<void> {
    await poll(
      () => `the end of "${summary}"`,
      async () => !(await desktop.notifications.open()).some((shown) => shown.id === id) || null,
    );
  }

  async function listTitles(persona: string): Promise<string[]> {
    return (await desktop.notifications.list()).flatMap(({ summary }) =>
      summary.startsWith(`${persona}: `) ? [summary] : [],
    );
  }
});
