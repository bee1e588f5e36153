import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Desktop, desktopMissing, skipUnless, startDesktop } from '../kit/desktop/index.ts';
import { type FakeHive, fakeHive } from '../kit/fake-hive.ts';
import { type TrayHome, type TrayProcess, trayHome } from '../kit/tray-process.ts';

const NAMES = Array.from({ length: 60 }, (_, i) => `p${String(i).padStart(2, '0')}`);
/** The fastest the settings allow, so that an outage is one within seconds. */
const FAST = { pollSeconds: 1, alertAfter: 2, holdSeconds: 1 };

function homeWith(hive: { readonly url: string }, more: object = {}): TrayHome {
  return trayHome({ primary: { is: 'kijito', base: hive.url }, ...FAST, ...more });
}

const all = (tray: TrayProcess, state: 'UP' | 'DOWN', n: number) =>
  tray.until(`${n} personas ${state}`, ({ personas }) => {
    const far = personas.filter((p) => p.source === 'kijito');
    return far.length === n && far.every((p) => p.state === state);
  });

/** What an agent was told of an outage. */
const edges = (home: TrayHome, stem: string): string[] =>
  home.events(stem).flatMap(({ event }) => (event === 'armed' ? [] : [event]));

const skip = skipUnless(desktopMissing());

describe('outages', { concurrency: true }, () => {
  describe('a hive under a real notification daemon', { skip, concurrency: true }, () => {
    let desktop: Desktop;
    before(async () => {
      desktop = await startDesktop({ host: 'none' });
    });
    after(() => desktop?.[Symbol.asyncDispose]());

    /**
     * The titles of all banners about a hive of `n` personas. The tests share the desktop and differ in their numbers. On a
     * slow machine the first banner may count fewer personas, and be replaced: such a first one is left out.
     */
    const banners = async (hive: FakeHive, n: number): Promise<string[]> => {
      const list = await desktop.notifications.list();
      const about = list.filter(
        ({ summary, body }) => body.includes(hive.url) || summary === `kijito is back: ${n} personas`,
      );
      return about.flatMap(({ id, summary }, i) => {
        const next = about.slice(i + 1).find((later) => later.id === id);
        return next !== undefined && countPersonas(next.summary) > countPersonas(summary) ? [] : [summary];
      });
    };
    const countPersonas = (title: string): number => Number(/ down: (\d+) personas$/.exec(title)?.[1] ?? 0);
    const start = (home: TrayHome): Promise<TrayProcess> =>
      home.start(['--no-tray'], { DBUS_SESSION_BUS_ADDRESS: desktop.env.DBUS_SESSION_BUS_ADDRESS ?? '' });
    /** Long enough for a banner that shall not come. */
    const waitUntilQuiet = (): Promise<void> => sleep(2500);

    test('S4: 60 personas, it dies: one banner with the number, each DOWN with its reason, one alert line each; it comes back: UP at once everywhere, one banner, one recovered line each', async () => {
      await using hive = await fakeHive({ personas: NAMES });
      using home = homeWith(hive);
      await using tray = await start(home);
      await all(tray, 'UP', 60);
      const stream = await fetch(`${tray.url}/api/v1/stream`);

      await hive.refuse();
      const down = await all(tray, 'DOWN', 60);
      for (const { id, reason } of down.personas) assert.match(reason ?? '', /refused.*check that the server/, id);
      assert.deepEqual(
        down.causes.map(({ scope, personas }) => [scope, personas.length]),
        [['source', 60]],
      );
      // Where they fail over more than the 5 s that a banner is held, the first says how many by then, and this one replaces it.
      const shown = await desktop.notifications.wait(/^kijito down: 60 personas\n/, 60_000);
      assert.match(shown.body, /refused/);
      const about = (await desktop.notifications.list()).filter(({ body }) => body.includes(hive.url));
      assert.deepEqual([...new Set(about.map(({ id }) => id))], [shown.id], 'one banner');
      await sleep(3000); // further failures are no news
      assert.deepEqual(await banners(hive, 60), ['kijito down: 60 personas']);
      for (const name of NAMES) assert.deepEqual(edges(home, name), ['alert'], name);

      await hive.heal();
      const up = await all(tray, 'UP', 60);
      assert.deepEqual([up.totals.down, up.causes, up.hives.map(({ state }) => state)], [0, [], ['UP', 'UP']]);
      const back = await desktop.notifications.wait(/^kijito is back: 60 personas\n/);
      assert.match(back.body, /^Down for \d+ s\.$/);
      await waitUntilQuiet();
      assert.deepEqual(await banners(hive, 60), ['kijito down: 60 personas', 'kijito is back: 60 personas']);
      for (const name of NAMES) assert.deepEqual(edges(home, name), ['alert', 'recovered'], name);
      assert.equal(back.id, shown.id, 'in place of the other');
      assert.match(await lastStatus(stream), /"up":60,"down":0,"personas":60/);
    });

    test('S3: killed while the hive is down, and started: no second banner; it comes back: one', async () => {
      const names = NAMES.slice(0, 5);
      await using hive = await fakeHive({ personas: names });
      using home = homeWith(hive);
      {
        await using tray = await start(home);
        await all(tray, 'UP', 5);
        await hive.refuse();
        await desktop.notifications.wait(/^kijito down: 5 personas\n/, 60_000);
        await sleep(200);
        await tray.kill();
      }
      await using tray = await start(home);
      await all(tray, 'DOWN', 5);
      await waitUntilQuiet();
      assert.deepEqual(await banners(hive, 5), ['kijito down: 5 personas']);
      for (const name of names) assert.deepEqual(edges(home, name), ['alert'], name);
      await hive.heal();
      await desktop.notifications.wait(/^kijito is back: 5 personas\n/);
      await waitUntilQuiet();
      assert.deepEqual(await banners(hive, 5), ['kijito down: 5 personas', 'kijito is back: 5 personas']);
      for (const name of names) assert.deepEqual(edges(home, name), ['alert', 'recovered'], name);
    });

    test('S3: stopped while UP, the hive breaks, started: exactly one banner', async () => {
      const names = NAMES.slice(0, 4);
      await using hive = await fakeHive({ personas: names });
      using home = homeWith(hive);
      {
        await using tray = await start(home);
        await all(tray, 'UP', 4);
        await tray.stop();
      }
      await hive.refuse();
      await using tray = await start(home);
      await all(tray, 'DOWN', 4);
      await desktop.notifications.wait(/^kijito down: 4 personas\n/, 60_000);
      await waitUntilQuiet();
      assert.deepEqual(await banners(hive, 4), ['kijito down: 4 personas']);
      for (const name of names) assert.deepEqual(edges(home, name), ['alert'], name);
    });
  });

  describe('a hive that is not there', { concurrency: true }, () => {
    const quiet = (home: TrayHome): Promise<TrayProcess> => home.start(['--no-tray', '--no-notifications']);

    /** For as long as a request to the far hive may hang, mail on this machine is told within moments. */
    async function localWorks(home: TrayHome, tray: TrayProcess): Promise<void> {
      const ids: unknown[] = [];
      for (let i = 0; i < 12; i += 1) {
        const { result } = (await tray.post('/api/send', { to: 'ada', from: 'me', content: 'hi' })) as SendAnswer;
        ids.push(result.id);
        await sleep(500);
      }
      const { state } = await tray.persona('local-ada', ({ unread }) => unread === ids.length);
      assert.equal(state, 'UP');
      assert.deepEqual(home.mail('local-ada'), ids);
      for (const { event, ts, created } of home.events('local-ada')) {
        if (event === 'new')
          assert.ok(Date.parse(String(ts)) - Date.parse(String(created)) < 2000, `${created} -> ${ts}`);
      }
    }

    async function cause(tray: TrayProcess, message: RegExp): Promise<void> {
      const { causes, hives } = await tray.until('a cause', (now) => now.causes.length > 0);
      assert.match(causes[0]?.message ?? '', message);
      assert.equal(hives.find(({ source }) => source === 'kijito')?.state, 'DOWN');
    }

    /** What was there before is a number on the badge, not news; what comes now is. */
    const heals = async (home: TrayHome, tray: TrayProcess, hive: FakeHive): Promise<void> => {
      await hive.heal();
      const { causes } = await all(tray, 'UP', 2);
      assert.deepEqual(causes, []);
      await tray.persona('p00', ({ unread }) => unread === 1);
      const id = hive.deliver('p00');
      await tray.persona('p00', ({ lastEventId }) => lastEventId === `p00:new:${id}`);
      assert.deepEqual(home.mail('p00'), [id]);
      hive.deliver('born');
      await tray.persona('born', ({ lastMailAt }) => lastMailAt !== null);
      assert.deepEqual(home.mail('born'), [id + 1]);
      assert.deepEqual(home.mail('p01'), []);
    };

    const twoWithOldMail = async (): Promise<FakeHive> => {
      const hive = await fakeHive({ personas: NAMES.slice(0, 2) });
      hive.deliver('p00');
      hive.deliver('p01');
      hive.markRead('p01');
      return hive;
    };

    test('refused at the start: the tray runs, says so, serves the local hive, and heals by itself', async () => {
      await using hive = await twoWithOldMail();
      await hive.refuse();
      using home = homeWith(hive);
      await using tray = await quiet(home);
      await cause(tray, /refused/);
      await localWorks(home, tray);
      await heals(home, tray, hive);
    });

    for (const [status, words] of [
      [401, /401.*valid token/],
      [404, /404.*check the address/],
    ] as const) {
      test(`${status} at the start: the tray runs, says so, serves the local hive, and heals by itself`, async () => {
        await using hive = await twoWithOldMail();
        hive.fail({ is: 'status', status });
        using home = homeWith(hive);
        await using tray = await quiet(home);
        await cause(tray, words);
        await localWorks(home, tray);
        await heals(home, tray, hive);
      });
    }

    test('a host name that does not resolve: the tray runs, says so, and serves the local hive', async () => {
      using home = homeWith({ url: 'http://no-such-host.invalid:1' });
      await using tray = await quiet(home);
      await cause(tray, /no-such-host\.invalid.*check the host name/);
      await localWorks(home, tray);
    });

    test('one that accepts and never answers holds up nobody else, and heals by itself', async () => {
      await using hive = await twoWithOldMail();
      hive.fail({ is: 'hang' });
      using home = homeWith(hive);
      await using tray = await quiet(home);
      await localWorks(home, tray);
      await cause(tray, /answer/);
      await heals(home, tray, hive);
    });

    test('one that turns into a black hole is DOWN; the local hive goes on; it heals by itself', async () => {
      await using hive = await twoWithOldMail();
      using home = homeWith(hive, { alertAfter: 1 });
      await using tray = await quiet(home);
      await all(tray, 'UP', 2);
      hive.fail({ is: 'hang' });
      await localWorks(home, tray);
      await all(tray, 'DOWN', 2);
      await heals(home, tray, hive);
    });
  });
});

interface SendAnswer {
  readonly result: { readonly id: number };
}

/** What has come of a stream by now: its last status message. */
async function lastStatus(stream: Response): Promise<string> {
  const reader = stream.body?.getReader();
  if (reader === undefined) throw new Error('the stream has no body');
  let text = '';
  const timeout = sleep(300).then(() => null);
  for (;;) {
    const read = await Promise.race([reader.read(), timeout]);
    if (read === null || read.value === undefined) break;
    text += Buffer.from(read.value).toString('utf8');
  }
  await reader.cancel();
  return text.slice(text.lastIndexOf('event: status'));
}
