import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fakeHive } from '../kit/fake-hive.ts';
import { startCli } from '../kit/process.ts';
import { type TrayHome, type TrayProcess, trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

/** Field reports S2 and S5 at the real process, with real sockets. */
const NO_SURFACES = ['--no-tray', '--no-notifications'];
/** A beat is due every 5 s and may be 15 s late. */
const STOPPED_MS = 21_000;
/** What a busy machine may need for what should take no time. */
const AT_ONCE_MS = 2500;
/** What a request is given. */
const TIMEOUT_MS = 5000;

function homeWith(hive: { readonly url: string }, settings: object): TrayHome {
  return trayHome({ primary: { is: 'kijito', base: hive.url }, ...settings });
}

async function stopped(pid: number, meanwhile: () => void | Promise<void>): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  try {
    await sleep(STOPPED_MS / 2);
    await meanwhile();
    await sleep(STOPPED_MS / 2);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
}

const edges = (home: TrayHome, stem: string): readonly string[] =>
  home.events(stem).flatMap(({ event }) => (event === 'alert' || event === 'recovered' ? [event] : []));

const isUp = (tray: TrayProcess, persona: string, ms: number) => tray.persona(persona, (p) => p.state === 'UP', ms);

describe('sleep and outages', { concurrency: true }, () => {
  describe('a process that was stopped, as by a sleep', { concurrency: true }, () => {
    test('S5: mail that came meanwhile is told at once, though the held question hangs on a dead connection and the interval is an hour', async () => {
      await using hive = await fakeHive({ personas: ['ada', 'bo'] });
      using home = homeWith(hive, { pollSeconds: 3600, holdSeconds: 60 });
      await using tray = await home.start(NO_SURFACES);
      await isUp(tray, 'ada', 20_000);
      await until('the list is held', () => hive.asked('pending').some(({ url }) => url.includes('cursor=')));
      hive.fail({ is: 'hang' }, { endpoint: 'pending' }); // the next question, and no answer ever
      const before = hive.asked('pending').length;
      hive.deliver('ada');
      await until('it is asked', () => hive.asked('pending').length > before);
      await hive.heal();
      let id = 0;
      await stopped(tray.pid, () => {
        id = hive.deliver('bo');
      });
      await until('the mail is told', () => home.mail('bo').includes(id), AT_ONCE_MS);
      assert.ok(tray.log.some((line) => /^Hivebar did not poll for \d+ s/.test(line)));
      for (const persona of ['ada', 'bo']) assert.deepEqual(edges(home, persona), []);
      const last = hive.deliver('ada');
      await until('and mail that comes now', () => home.mail('ada').includes(last), AT_ONCE_MS);
    });

    test('S5: a network that is back some seconds later was no outage', async () => {
      await using hive = await fakeHive({ personas: ['ada'] });
      using home = homeWith(hive, { pollSeconds: 1, alertAfter: 2, holdSeconds: 0 });
      await using tray = await home.start(NO_SURFACES);
      await isUp(tray, 'ada', 20_000);
      await stopped(tray.pid, () => hive.refuse());
      await tray.persona('ada', (p) => p.reason !== null, AT_ONCE_MS);
      await sleep(4000); // far more failures than make an outage
      await hive.heal();
      const id = hive.deliver('ada');
      await until('the mail is told', () => home.mail('ada').includes(id), 1000 + AT_ONCE_MS);
      assert.deepEqual(edges(home, 'ada'), []);
    });

    test('the headless watch does so too: no alert while the network wakes up, and the mail at once', async () => {
      await using hive = await fakeHive({ personas: ['ada'] });
      const flags = ['--persona', 'ada', '--poll-seconds', '1', '--alert-after', '2'];
      await using cli = startCli(['watch', '--hive', hive.url, ...flags]);
      await cli.event('armed');
      await stopped(cli.pid, () => hive.refuse());
      await cli.says(/refused/, AT_ONCE_MS);
      await sleep(4000);
      await hive.heal();
      const id = hive.deliver('ada');
      assert.equal((await cli.event('new', undefined, 1000 + AT_ONCE_MS)).id, id);
      assert.deepEqual(
        cli.events.map(({ event }) => event),
        ['armed', 'new'],
      );
    });
  });

  describe('a hive that is away', { concurrency: true }, () => {
    test('S5: it takes every question and never answers; healed, it is seen within an interval and a timeout', async () => {
      await using hive = await fakeHive({ personas: ['ada'] });
      using home = homeWith(hive, { pollSeconds: 1, alertAfter: 1, holdSeconds: 0 }); // a timeout of the list, and one of the inbox
      await using tray = await home.start(NO_SURFACES);
      await isUp(tray, 'ada', 20_000);
      hive.fail({ is: 'hang' });
      await tray.persona('ada', (p) => p.state === 'DOWN', 30_000);
      const id = hive.deliver('ada');
      await sleep(TIMEOUT_MS);
      await hive.heal();
      await until('the mail is told', () => home.mail('ada').includes(id), 1000 + TIMEOUT_MS + AT_ONCE_MS);
      await isUp(tray, 'ada', AT_ONCE_MS);
      assert.deepEqual(edges(home, 'ada'), ['alert', 'recovered']);
    });

    test('one whose directory did not answer yet is asked at once when a person polls, whatever the wait is by then', async () => {
      await using hive = await fakeHive({ personas: ['ada'] });
      hive.fail({ is: 'status', status: 500 }, { endpoint: 'personas' });
      using home = homeWith(hive, { pollSeconds: 3600 });
      await using tray = await home.start(NO_SURFACES);
      await until('a wait of 8 s', () => hive.asked('personas').length === 3, 20_000);
      await hive.heal();
      await tray.post('/api/v1/actions/poll', {});
      await isUp(tray, 'ada', AT_ONCE_MS);
    });

    test('S2: three polls refused and nothing unread; accepted again, JSON, stream and page are UP on the first good poll', async () => {
      await using hive = await fakeHive({ personas: ['ada'] });
      using home = homeWith(hive, { pollSeconds: 1, alertAfter: 3, holdSeconds: 0 });
      await using tray = await home.start(NO_SURFACES);
      await isUp(tray, 'ada', 20_000);
      await using stream = await follow(`${tray.url}/api/v1/stream`);
      await hive.refuse();
      await tray.persona('ada', (p) => p.state === 'DOWN', 20_000);
      await stream.until(/"down":1/, AT_ONCE_MS);
      assert.equal(await readPageShape(tray.url), 'down');
      stream.forget();
      await hive.heal();
      await until('the first good poll', () => hive.asked('inbox').length > 1, 1000 + AT_ONCE_MS);
      await isUp(tray, 'ada', AT_ONCE_MS);
      await stream.until(/"down":0/, AT_ONCE_MS);
      const { totals, causes } = await tray.status();
      assert.deepEqual([totals.down, totals.unread, causes], [0, 0, []]);
      assert.equal(await readPageShape(tray.url), 'up');
      assert.deepEqual(edges(home, 'ada'), ['alert', 'recovered']);
    });
  });
});

/** How the page looks, without a script. */
const readPageShape = async (url: string): Promise<string | undefined> =>
  /<html [^>]*data-look="(\w+)"/.exec(await (await fetch(`${url}/`)).text())?.[1];

/** What a stream says, as it says it. */
async function follow(url: string) {
  const stop = new AbortController();
  const answer = await fetch(url, { signal: stop.signal });
  let output = '';
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of answer.body ?? []) output += decoder.decode(chunk, { stream: true });
  })().catch(() => {}); // ended by us
  return {
    until: (words: RegExp, ms: number) => until(`${words} on the stream`, () => words.test(output), ms),
    forget: () => {
      output = '';
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await reading;
    },
  };
}
