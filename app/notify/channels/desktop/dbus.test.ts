import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { realClock, silentLog } from '../../../../core/ports/index.ts';
import { type Desktop, desktopMissing, poll, startDesktop } from '../../../../test/kit/desktop/index.ts';
import { createBanner } from '../../../../test/kit/notify-scene.ts';
import { needs } from '../../../../test/kit/require.ts';
import { type RecordedCall, startStandInDaemon } from '../../../../test/kit/stand-in-notification-daemon.ts';
import { openSessionBus, type SessionBus } from '../../../desktop/index.ts';
import { getAssetPath } from '../../../package.node.ts';
import type { ChannelListener, ChannelState, NotificationKey, NotificationPart } from '../channel.ts';
import type { DesktopBackend } from '../desktop.ts';
import { createDbusBackend } from './dbus.ts';

const IDENTITY = { desktopEntry: 'hivebar', icon: getAssetPath('icons/44/up-none.png') };
const S8 = 'Fish & <b>Chips</b> <a href="http://x">click</a> 👩‍👩‍👧 ٱلعربية';
const S8_AS_MARKUP = 'Fish &amp; &lt;b&gt;Chips&lt;/b&gt; &lt;a href="http://x"&gt;click&lt;/a&gt; 👩‍👩‍👧 ٱلعربية';

/** Writes down what a backend tells. */
class ListenerRecord implements ChannelListener {
  readonly clicks: [NotificationKey, NotificationPart, string | null][] = [];
  readonly closes: [NotificationKey, string][] = [];
  readonly states: ChannelState[] = [];
  clicked(key: NotificationKey, part: NotificationPart, token: string | null): void {
    this.clicks.push([key, part, token]);
  }
  closed(key: NotificationKey, by: 'person' | 'channel'): void {
    this.closes.push([key, by]);
  }
  state(state: ChannelState): void {
    this.states.push(state);
  }
  until(goal: string, met: (heard: ListenerRecord) => boolean): Promise<true> {
    return poll(
      () => `${goal}; heard ${JSON.stringify(this)}`,
      () => met(this) || null,
    );
  }
}

async function join(desktop: Desktop): Promise<SessionBus> {
  const bus = await openSessionBus({ env: desktop.env, log: silentLog, clock: realClock });
  if (bus.is === 'none') throw new Error(bus.why);
  return bus;
}

describe('a real notification daemon (dunst)', () => {
  const missing = desktopMissing();
  const stack = new AsyncDisposableStack();
  let desktop: Desktop;
  let backend: DesktopBackend;
  const heard = new ListenerRecord();

  before(async () => {
    if (missing !== null) return;
    desktop = stack.use(await startDesktop({ host: 'none' }));
    const bus = stack.use(await join(desktop));
    backend = stack.use(createDbusBackend(bus, IDENTITY, true)(heard));
    await heard.until('dunst', (h) => h.states.length > 0);
  });
  after(() => stack.disposeAsync());

  test('it says who shows the banners', (t) => {
    if (needs(t, missing)) return;
    assert.match(JSON.stringify(heard.states), /^\[\{"is":"ready","by":"D-Bus, dunst [0-9.]+[^"]*"\}\]$/);
  });

  test('a banner appears with its action, hints and urgency', async (t) => {
    if (needs(t, missing)) return;
    await backend.show(createBanner());
    const shown = await desktop.notifications.wait(/^ada: 1 new\nbob: hi$/);
    assert.equal(shown.app, 'Hivebar');
    assert.deepEqual(shown.actions, ['default', 'Open']);
    assert.deepEqual(shown.hints, {
      'desktop-entry': 'hivebar',
      category: 'email.arrived',
      urgency: 1,
      'sound-name': 'message-new-email',
    });
  });

  test('its buttons come after the click on the banner itself; without sound it says so', async (t) => {
    if (needs(t, missing)) return;
    const bus = stack.use(await join(desktop));
    await using silent = createDbusBackend(bus, IDENTITY, false)(new ListenerRecord());
    const action = { name: 'open', params: {} };
    const buttons = [
      { id: 'open', label: 'Open session', action } as const,
      { id: 'mute', label: 'Mute 1 h', action } as const,
    ];
    await silent.show(createBanner({ key: 'mail:eve', title: 'eve: 1 new', buttons }));
    const shown = await desktop.notifications.wait(/^eve: 1 new/);
    assert.deepEqual(shown.actions, ['default', 'Open', 'open', 'Open session', 'mute', 'Mute 1 h']);
    assert.deepEqual([shown.hints['suppress-sound'], shown.hints['sound-name']], [true, undefined]);
  });

  test('the next one with its key takes its place', async (t) => {
    if (needs(t, missing)) return;
    const [first] = await desktop.notifications.open();
    await backend.show(createBanner({ title: 'ada: 2 new' }));
    const second = await desktop.notifications.wait(/^ada: 2 new/);
    assert.equal(second.id, first?.id);
    assert.equal(second.replaces, first?.id);
    assert.equal((await desktop.notifications.open()).length, 1);
  });

  test('S8: the daemon has body-markup: the text is shown literally, the summary is not escaped', async (t) => {
    if (needs(t, missing)) return;
    await backend.show(createBanner({ key: 'mail:bo', title: S8, body: S8 }));
    const shown = await desktop.notifications.wait(/Chips/);
    assert.equal(shown.summary, S8);
    assert.equal(shown.body, S8_AS_MARKUP);
  });

  test('an outage is critical', async (t) => {
    if (needs(t, missing)) return;
    await backend.show(
      createBanner({ key: 'outage:kijito', is: 'outage', title: 'kijito down: 60 personas', urgency: 'critical' }),
    );
    const shown = await desktop.notifications.wait(/kijito down/);
    assert.deepEqual(shown.hints, {
      'desktop-entry': 'hivebar',
      category: 'network.disconnected',
      urgency: 2,
      'sound-name': 'network-connectivity-lost',
    });
    if (process.env.HIVEBAR_SHOT !== undefined) await desktop.screenshot(process.env.HIVEBAR_SHOT);
  });

  test('a click comes back with its key, and then the banner is gone', async (t) => {
    if (needs(t, missing)) return;
    await desktop.notifications.click(/^ada: 2 new/);
    await heard.until('the click', (h) => h.clicks.length > 0);
    assert.deepEqual(heard.clicks, [['mail:ada', 'banner', null]]);
    await heard.until('its end', (h) => h.closes.some(([key]) => key === 'mail:ada'));
  });

  test('somebody closes the newest: a person took note', async (t) => {
    if (needs(t, missing)) return;
    const before = await desktop.notifications.open();
    await desktop.notifications.dismissNewest();
    await heard.until('the end', (h) => h.closes.some(([, by]) => by === 'person'));
    assert.equal((await desktop.notifications.open()).length, before.length - 1);
  });

  test('a banner is withdrawn, and what is left goes with the backend', async (t) => {
    if (needs(t, missing)) return;
    await backend.show(createBanner({ key: 'mail:cy', title: 'cy: 1 new' }));
    await backend.show(createBanner({ key: 'mail:di', title: 'di: 1 new' }));
    await backend.withdraw('mail:cy');
    await poll(
      () => 'withdrawal',
      async () => !(await desktop.notifications.open()).some((s) => s.summary.startsWith('cy')) || null,
    );
    await backend[Symbol.asyncDispose]();
    await poll(
      () => 'an empty screen',
      async () => (await desktop.notifications.open()).length === 0 || null,
    );
  });
});

describe('stand-in daemons, on a bus that has none', () => {
  const missing = desktopMissing();
  const stack = new AsyncDisposableStack();
  let desktop: Desktop;
  let sharedBus: SessionBus;

  before(async () => {
    if (missing !== null) return;
    desktop = stack.use(await startDesktop({ host: 'none', notify: 'none' }));
    sharedBus = stack.use(await join(desktop));
  });
  after(() => stack.disposeAsync());

  test('S19: no daemon: said once, every banner refused; one that comes later is used', async (t) => {
    if (needs(t, missing)) return;
    const heard = new ListenerRecord();
    await using backend = createDbusBackend(sharedBus, IDENTITY, true)(heard);
    await heard.until('a state', (h) => h.states.length > 0);
    for (let i = 0; i < 5; i += 1) await assert.rejects(backend.show(createBanner()), /no notification daemon/);
    assert.deepEqual(heard.states, [{ is: 'unavailable', why: 'no notification daemon' }]);
    const calls: RecordedCall[] = [];
    await using bus = await join(desktop);
    using _daemon = await startStandInDaemon(bus, ['body', 'actions'], calls);
    await heard.until('the daemon', (h) => h.states.length > 1);
    assert.deepEqual(heard.states[1], { is: 'ready', by: 'D-Bus, stand-in 1' });
    await backend.show(createBanner());
    assert.equal(calls.length, 1);
  });

  test('a banner right after the start, before the bus said who shows it: the running daemon is used, and nobody misses it', async (t) => {
    if (needs(t, missing)) return;
    const calls: RecordedCall[] = [];
    await using daemonBus = await join(desktop);
    using _daemon = await startStandInDaemon(daemonBus, ['body'], calls); // the bus could not start it
    await using bus = await join(desktop);
    const heard = new ListenerRecord();
    await using backend = createDbusBackend(bus, IDENTITY, true)(heard);
    await backend.show(createBanner());
    await heard.until('the daemon', (h) => h.states.length > 0);
    assert.deepEqual(heard.states, [{ is: 'ready', by: 'D-Bus, stand-in 1' }]);
    assert.equal(calls.length, 1);
  });

  test('S8: a daemon without body-markup gets the text as it is; one without body gets it in the summary', async (t) => {
    if (needs(t, missing)) return;
    const seen = async (capabilities: string[]): Promise<readonly unknown[]> => {
      const calls: RecordedCall[] = [];
      await using bus = await join(desktop);
      using _daemon = await startStandInDaemon(bus, capabilities, calls);
      const heard = new ListenerRecord();
      await using backend = createDbusBackend(sharedBus, IDENTITY, true)(heard);
      await heard.until('ready', (h) => h.states.some((s) => s.is === 'ready'));
      await backend.show(createBanner({ title: 'ada: 1 new', body: S8 }));
      return calls[0]?.args.slice(3, 6) ?? [];
    };
    assert.deepEqual(await seen(['body', 'actions']), ['ada: 1 new', S8, ['default', 'Open']]);
    assert.deepEqual(await seen(['body']), ['ada: 1 new', S8, []]);
    assert.deepEqual(await seen([]), [`ada: 1 new: ${S8}`, '', []]);
  });

  test('the activation token goes with the click; what is not about our banners, or not from the daemon, is not heard', async (t) => {
    if (needs(t, missing)) return;
    const calls: RecordedCall[] = [];
    await using bus = await join(desktop);
    await using stranger = await join(desktop);
    using daemon = await startStandInDaemon(bus, ['body', 'actions'], calls);
    const forged = stranger.serve('/org/freedesktop/Notifications', [
      {
        name: 'org.freedesktop.Notifications',
        methods: {},
        signals: { ActionInvoked: 'us', NotificationClosed: 'uu' },
        properties: {},
      },
    ]);
    const heard = new ListenerRecord();
    await using backend = createDbusBackend(sharedBus, IDENTITY, true)(heard);
    await heard.until('ready', (h) => h.states.some((s) => s.is === 'ready'));
    await backend.show(createBanner());
    forged.emit('org.freedesktop.Notifications', 'ActionInvoked', [1, 'default']);
    forged.emit('org.freedesktop.Notifications', 'NotificationClosed', [1, 2]);
    await stranger.call({
      dest: 'org.freedesktop.DBus',
      path: '/',
      iface: 'org.freedesktop.DBus.Peer',
      member: 'Ping',
    });
    daemon.say('ActionInvoked', 77, 'default');
    daemon.say('ActionInvoked', 1, 'some-other-action');
    daemon.say('ActionInvoked', 1, 'mute');
    daemon.say('ActivationToken', 1, 'token-1');
    daemon.say('ActionInvoked', 1, 'default');
    daemon.say('NotificationClosed', 1, 2);
    await heard.until('the end', (h) => h.closes.length > 0);
    assert.deepEqual(heard.clicks, [
      ['mail:ada', 'mute', null],
      ['mail:ada', 'banner', 'token-1'],
    ]);
    assert.deepEqual(heard.closes, [['mail:ada', 'person']]);
  });

  test('a daemon that leaves in the middle of a call, with another behind it: the banner is shown by that one', async (t) => {
    if (needs(t, missing)) return;
    const heard = new ListenerRecord();
    await using backend = createDbusBackend(sharedBus, IDENTITY, true)(heard);
    await using next = await join(desktop);
    const first = await join(desktop);
    const calls: RecordedCall[] = [];
    const unheard: RecordedCall[] = [];
    await startStandInDaemon(first, ['body'], unheard);
    await heard.until('ready', (h) => h.states.some((s) => s.is === 'ready'));
    const coming = startStandInDaemon(next, ['body'], calls); // it stands in the queue for the name
    await next.call({
      dest: 'org.freedesktop.DBus',
      path: '/',
      iface: 'org.freedesktop.DBus.Peer',
      member: 'Ping',
    });
    const showing = backend.show(createBanner());
    await first[Symbol.asyncDispose](); // before it has read the question
    using _daemon = await coming;
    await showing;
    assert.deepEqual(
      [unheard, calls].map((all) => all.filter(({ member }) => member === 'Notify').length),
      [0, 1],
    );
  });

  test('a daemon that restarts takes its banners with it, and their numbers are not used again', async (t) => {
    if (needs(t, missing)) return;
    const heard = new ListenerRecord();
    await using backend = createDbusBackend(sharedBus, IDENTITY, true)(heard);
    {
      await using bus = await join(desktop);
      using _daemon = await startStandInDaemon(bus, ['body'], []);
      await heard.until('ready', (h) => h.states.some((s) => s.is === 'ready'));
      await backend.show(createBanner());
    }
    await heard.until('its end', (h) => h.states.at(-1)?.is === 'unavailable');
    assert.deepEqual(heard.closes, [['mail:ada', 'channel']]);
    const calls: RecordedCall[] = [];
    await using bus = await join(desktop);
    using _daemon = await startStandInDaemon(bus, ['body'], calls);
    await heard.until('the next', (h) => h.states.at(-1)?.is === 'ready');
    await backend.show(createBanner());
    assert.equal(calls[0]?.args[1], 0, 'replaces nothing');
  });
});
