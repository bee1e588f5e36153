import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { StatusWire } from '../../app/status/index.ts';
import { type FakeHive, fakeHive, type HiveFault } from '../kit/fake-hive.ts';
import { fakeNames } from '../kit/fake-hive-names.ts';
import { type FakeProxy, fakeProxy } from '../kit/fake-hive-proxy.ts';
import { CERTIFICATE, tlsFront } from '../kit/fake-hive-tls.ts';
import { needs } from '../kit/require.ts';
import { scratch } from '../kit/scratch.ts';
import { type TrayHome, type TrayProcess, trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

/** Hives that are not on this machine, several at once, in the real tray process and over real sockets. */
const FAST = { primary: { is: 'local' }, pollSeconds: 1, alertAfter: 2, holdSeconds: 1 };
const NO_SURFACES = ['--no-tray', '--no-notifications'];

type Hive = StatusWire['hives'][number];

const findHive = ({ hives }: StatusWire, source: string): Hive | undefined =>
  hives.find((hive) => hive.source === source);

/** Waits until a hive is DOWN for this reason, and until that is a cause. @returns the cause's message */
async function down(tray: TrayProcess, source: string, reason: RegExp): Promise<string> {
  const { causes } = await tray.until(
    `${source} DOWN: ${reason}`,
    (now) => {
      const hive = findHive(now, source);
      return hive?.state === 'DOWN' && reason.test(hive.reason ?? '') && now.causes.some((c) => reason.test(c.message));
    },
    40_000,
  );
  return causes.find(({ message }) => reason.test(message))?.message ?? '';
}

const up = (tray: TrayProcess, source: string): Promise<StatusWire> =>
  tray.until(
    `${source} UP without a cause`,
    (now) =>
      findHive(now, source)?.state === 'UP' &&
      now.personas.every(({ id, state }) => !id.startsWith(`${source}-`) || state === 'UP') &&
      now.causes.every(({ personas, key }) => key !== source && !personas.some((id) => id.startsWith(`${source}-`))),
    60_000, // a hive that was never listed is asked again after up to a minute
  );

async function delivered(home: TrayHome, hive: FakeHive, stem: string, persona = 'ada'): Promise<void> {
  const id = hive.deliver(persona);
  await until(`mail ${id} of ${stem}`, () => home.mail(stem).includes(id));
}

const replace = (path: string, text: string): void => {
  writeFileSync(`${path}.new`, text, { mode: 0o600 });
  renameSync(`${path}.new`, path);
};

describe('remote hives', { concurrency: 4 }, () => {
  describe('a team hive, a hosted one over https and one behind a proxy, at once', { concurrency: 1 }, () => {
    const cleanUp = new AsyncDisposableStack();
    let team: FakeHive;
    let hosted: FakeHive;
    let far: FakeHive;
    let proxy: FakeProxy;
    let home: TrayHome;
    let tray: TrayProcess;
    let recorded = 0;

    before(async () => {
      const files = cleanUp.use(scratch());
      const names = cleanUp.use(fakeNames());
      const at = (persona: string, token: string): Promise<FakeHive> =>
        fakeHive({ personas: ['ada', persona], token, namedAgentsOnly: true });
      team = cleanUp.use(await at('tim', 'team-secret'));
      hosted = cleanUp.use(await at('hal', 'hosted-secret'));
      far = cleanUp.use(await at('fay', 'far-secret'));
      const front = cleanUp.use(await tlsFront(hosted.port));
      proxy = cleanUp.use(await fakeProxy(far.port));
      const recorder = createServer((socket) => {
        recorded += 1;
        socket.destroy();
      }).listen(0, '127.0.0.1');
      cleanUp.defer(() => void recorder.close());
      await new Promise((resolve) => recorder.once('listening', resolve));
      const trap = `http://127.0.0.1:${(recorder.address() as { port: number }).port}`;
      const proxies = ['http_proxy', 'https_proxy', 'all_proxy'].flatMap((name) => [name, name.toUpperCase()]);
      names.set('hive.test', ['127.0.0.1']); // far.test is nobody's here: the proxy knows it
      home = cleanUp.use(
        trayHome({
          ...FAST,
          hives: [
            { name: 'team', base: team.url, tokenFile: files.write('team', 'team-secret\n') },
            {
              name: 'hosted',
              base: `https://hive.test:${front.port}`,
              tokenFile: files.write('hosted', 'hosted-secret'),
            },
            { name: 'far', base: 'http://far.test', tokenFile: files.write('far', 'far-secret'), proxy: proxy.url },
          ],
        }),
      );
      tray = cleanUp.use(
        await home.start(NO_SURFACES, {
          ...names.env,
          ...Object.fromEntries(proxies.map((name) => [name, trap])),
          NODE_USE_ENV_PROXY: '1',
          NODE_EXTRA_CA_CERTS: files.write('ca.pem', CERTIFICATE),
        }),
      );
    });
    after(() => cleanUp.disposeAsync());

    test('each hive is a source of its own: a prefix, a state, a file a persona, and mail of the same number in each', async () => {
      for (const source of ['team', 'hosted', 'far']) await up(tray, source);
      const { personas, hives } = await tray.until('all personas', (now) => now.personas.length === 6);
      assert.deepEqual(personas.map(({ id }) => id).toSorted(), [
        'far-ada',
        'far-fay',
        'hosted-ada',
        'hosted-hal',
        'team-ada',
        'team-tim',
      ]);
      assert.deepEqual(
        hives.map(({ source }) => source),
        ['far', 'hosted', 'local', 'team'],
      );
      await delivered(home, team, 'team-ada');
      await delivered(home, hosted, 'hosted-ada');
      await delivered(home, far, 'far-ada');
      for (const source of ['team', 'hosted', 'far']) assert.deepEqual(home.mail(`${source}-ada`), [1]);
    });

    test('trap 58: a library agent is blocked with 403: every request of every hive says hivebar/VERSION', async () => {
      for (const hive of [team, hosted, far]) {
        await until('it was asked', () => hive.asked('inbox').length > 0);
        const agents = new Set(hive.requests.map(({ headers }) => headers['user-agent']));
        assert.match([...agents].join(), /^hivebar\/\d+\.\d+\.\d+\S*$/);
      }
      const strange = await fetch(`${team.url}/api/personas`, { headers: { authorization: 'Bearer team-secret' } });
      assert.equal(strange.status, 403, 'so it would be');
    });

    test('trap 59: the hyphenated pending path is a 404: it is asked at /api/notify/pending, and nothing else is', async () => {
      for (const hive of [team, hosted, far]) {
        await until('the pending list was asked', () => hive.asked('pending').length > 0);
        const paths = new Set(hive.requests.map(({ url }) => url.replace(/\?.*/, '')));
        paths.delete('/api/inbox');
        assert.deepEqual([...paths].toSorted(), ['/api/notify/pending', '/api/personas']);
      }
    });

    test('D11: proxy variables get no request and no token; the configured proxy sees CONNECT and no token; each hive sees its own token only', async () => {
      await up(tray, 'far');
      for (const [hive, token] of [
        [team, 'team-secret'],
        [hosted, 'hosted-secret'],
        [far, 'far-secret'],
      ] as const) {
        const fetched = hive.requests.filter(({ headers }) => headers['user-agent']?.startsWith('hivebar/'));
        assert.deepEqual(new Set(fetched.map(({ headers }) => headers.authorization)), new Set([`Bearer ${token}`]));
      }
      assert.equal(recorded, 0);
      assert.deepEqual([new Set(proxy.connects), proxy.requests], [new Set(['far.test:80']), []]);
      assert.ok(proxy.headers.every((headers) => headers.authorization === undefined));
    });

    test('a proxy that breaks is the cause of its hive alone, and heals', async () => {
      await up(tray, 'far');
      proxy.fail({ is: 'status', status: 503 });
      far.fail({ is: 'reset' }); // no connection that stands goes on
      assert.match(await down(tray, 'far', /the proxy .* answered 503 to CONNECT far\.test:80/), /next|log/);
      await delivered(home, team, 'team-ada');
      proxy.fail(null);
      await far.heal();
      await up(tray, 'far');
      await delivered(home, far, 'far-ada');
    });
  });

  test('trap f: DNS that fails at the start is a cause and no exit; it heals, an address change heals, and no answer of DNS moves it into another class', async (t) => {
    if (needs(t, process.platform === 'linux' ? null : '127.0.0.2 is there on Linux only')) return;
    using names = fakeNames();
    await using hive = await fakeHive({ personas: ['ada'] });
    names.set('hive.test', null);
    using home = trayHome({ ...FAST, hives: [{ name: 'team', base: `http://hive.test:${hive.port}` }] });
    await using tray = await home.start(NO_SURFACES, names.env);
    const message = await down(tray, 'team', /hive\.test.*did not resolve \(EAI_AGAIN\)/);
    assert.match(message, /check the host name and the network/);
    assert.equal(findHive(await tray.status(), 'local')?.state, 'UP');

    names.set('hive.test', ['127.0.0.1']);
    await up(tray, 'team');
    await delivered(home, hive, 'team-ada');

    await hive.move('127.0.0.2'); // DNS still says the old one
    await down(tray, 'team', /refused/);
    names.set('hive.test', ['127.0.0.2']);
    await up(tray, 'team');
    await delivered(home, hive, 'team-ada');

    names.set('hive.test', ['10.255.255.1']);
    await hive.refuse();
    await down(tray, 'team', /10\.255\.255\.1\) is a private address, and only loopback is allowed/);
    names.set('hive.test', null);
    await down(tray, 'team', /EAI_AGAIN/);
    names.set('hive.test', ['127.0.0.2']);
    await hive.heal();
    await up(tray, 'team');
    await delivered(home, hive, 'team-ada');
    assert.equal(home.mail('team-ada').length, 3);
  });

  test('a token file that comes later, is refused and is replaced: causes with the file in them, no exit, and each heals by itself', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada'], token: 'first-secret' });
    await using other = await fakeHive({ personas: ['bo'] });
    const tokenFile = files.at('token');
    using home = trayHome({
      ...FAST,
      hives: [
        { name: 'team', base: hive.url, tokenFile },
        { name: 'other', base: other.url },
      ],
    });
    await using tray = await home.start(NO_SURFACES);
    const named = JSON.stringify(tokenFile);
    const missing = await down(tray, 'team', /token file .* cannot be read \(ENOENT/);
    assert.ok(missing.includes(named), missing);
    assert.match(missing, /check that the file exists and that this user may read it/);
    assert.equal(hive.requests.length, 0, 'nobody is asked without the token');
    await up(tray, 'other');
    await delivered(home, other, 'other-bo', 'bo');

    replace(tokenFile, 'first-secret\n');
    await up(tray, 'team');
    await delivered(home, hive, 'team-ada');

    hive.setToken('second-secret');
    const refused = await down(tray, 'team', /401 \(unauthorized\) to the token in/);
    assert.ok(refused.includes(named), refused);
    assert.match(refused, /valid token/);
    replace(tokenFile, 'second-secret\n');
    await up(tray, 'team');
    await delivered(home, hive, 'team-ada');

    hive.fail({ is: 'status', status: 403 });
    await down(tray, 'team', /403 \(forbidden\) to the token in/);
    rmSync(tokenFile);
    await down(tray, 'team', /ENOENT/);
    await hive.heal();
    hive.setToken('third-secret');
    replace(tokenFile, 'third-secret');
    await up(tray, 'team');
    await delivered(home, hive, 'team-ada');
    assert.deepEqual(
      [...new Set(hive.requests.map(({ headers }) => headers.authorization))],
      ['Bearer first-secret', 'Bearer second-secret', 'Bearer third-secret'],
    );
    assert.doesNotMatch(tray.cli.stderr, /-secret/);
    assert.equal(other.requests.filter(({ headers }) => headers.authorization !== undefined).length, 0);
  });

  test('D22: a token file of a hive that others may read is warned of once, with the name of the hive, however often it is read', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada'], token: 'right' });
    const tokenFile = files.write('token', 'wrong');
    chmodSync(tokenFile, 0o644);
    using home = trayHome({ ...FAST, hives: [{ name: 'team', base: hive.url, tokenFile }] });
    await using tray = await home.start(NO_SURFACES);
    await down(tray, 'team', /401/);
    writeFileSync(tokenFile, 'right');
    await up(tray, 'team');
    const warned = tray.log.filter((line) => line.includes('open to other users'));
    assert.equal(warned.length, 1, tray.log.join('\n'));
    assert.match(warned[0] ?? '', /^team: token file ".*token" is open to other users \(mode 644\): chmod 600 it$/);
  });

  describe('one hive that misbehaves among others', { concurrency: 1 }, () => {
    const huge = Buffer.alloc(17 * 1024 * 1024, 0x20);
    const gzip = { 'content-encoding': 'gzip' };
    const CASES: readonly (readonly [name: string, fault: HiveFault, reason: RegExp])[] = [
      ['D1: an answer cut in the middle', { is: 'truncated' }, /broke off/],
      ['D1: a garbage status line', { is: 'garbage' }, /not HTTP/],
      ['D1: a bad chunk', { is: 'bad-chunk' }, /not HTTP/],
      ['D7: a body that drips', { is: 'drip' }, /no complete answer within 5000 ms/],
      ['D8: requests that hang', { is: 'hang' }, /no complete answer within 5000 ms/],
      ['D19: a 204', { is: 'status', status: 204 }, /204, which has no content/],
      ['D19: a 304', { is: 'status', status: 304 }, /304 \(not modified\)/],
      [
        'D20: gzip that nobody asked for',
        { is: 'body', body: gzipSync('{}'), headers: gzip },
        /only identity was asked/,
      ],
      ['D24: a body over 16 MiB', { is: 'body', body: huge }, /larger than 16777216 bytes/],
      ['a redirect', { is: 'redirect', to: 'http://127.0.0.1:1/' }, /redirects \(302\)/],
    ];
    const cleanUp = new AsyncDisposableStack();
    let bad: FakeHive;
    let good: FakeHive;
    let home: TrayHome;
    let tray: TrayProcess;

    before(async () => {
      bad = cleanUp.use(await fakeHive({ personas: ['ada'] }));
      good = cleanUp.use(await fakeHive({ personas: ['ada'] }));
      const hives = [
        { name: 'bad', base: bad.url },
        { name: 'good', base: good.url },
      ];
      home = cleanUp.use(trayHome({ ...FAST, alertAfter: 1, hives }));
      tray = cleanUp.use(await home.start(NO_SURFACES));
    });
    after(() => cleanUp.disposeAsync());

    for (const [name, fault, reason] of CASES) {
      test(`${name} is an outage of that hive with its reason; the others are told at once, and it heals`, async () => {
        await up(tray, 'bad');
        await up(tray, 'good');
        bad.fail(fault);
        const id = bad.deliver('ada');
        const began = performance.now();
        await delivered(home, good, 'good-ada');
        assert.ok(performance.now() - began < 4000, 'a tick, and no time limit of the other');
        try {
          await down(tray, 'bad', reason);
          assert.equal(findHive(await tray.status(), 'good')?.state, 'UP');
        } finally {
          await bad.heal(); // for the tests after this one
        }
        await up(tray, 'bad');
        await until('the mail of the outage', () => home.mail('bad-ada').includes(id));
      });
    }
  });

  test('trap 60: a long-poll that is dropped loses no wake: the next hold has the cursor of the one before', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    // Polls alone would take a minute.
    using home = trayHome({ ...FAST, pollSeconds: 60, holdSeconds: 50, hives: [{ name: 'team', base: hive.url }] });
    await using tray = await home.start(NO_SURFACES);
    const holds = (): readonly string[] =>
      hive.asked('pending').flatMap(({ url }) => (url.includes('cursor=') ? [url.replace(/.*cursor=/, '')] : []));
    await tray.persona('team-ada', ({ state }) => state === 'UP');
    await until('a hold', () => holds().length > 0);
    for (const round of [1, 2]) {
      const before = holds();
      await hive.refuse();
      const id = hive.deliver('ada');
      await hive.heal();
      await until(`the wake of round ${round}`, () => home.mail('team-ada').includes(id), 30_000);
      assert.equal(holds()[before.length], before.at(-1), 'the cursor was kept');
      await until('a hold with a newer cursor', () => holds().at(-1) !== before.at(-1));
    }
    assert.equal(findHive(await tray.status(), 'team')?.state, 'UP');
  });

  test('trap 60: while holds are dropped the polls go on and tell the mail, and no hold is tried more often than they are made', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    using home = trayHome({ ...FAST, holdSeconds: 50, hives: [{ name: 'team', base: hive.url }] });
    await using tray = await home.start(NO_SURFACES);
    await tray.persona('team-ada', ({ state }) => state === 'UP');
    await until('a hold', () => hive.asked('pending').some(({ url }) => url.includes('cursor=')));
    hive.fail({ is: 'reset' }, { endpoint: 'pending' });
    hive.deliver('ada'); // ends the hold that is under way
    await until('it is told', () => home.mail('team-ada').length === 1);
    const from = hive.requests.length;
    const began = performance.now();
    for (let n = 0; n < 4; n += 1) await delivered(home, hive, 'team-ada');
    const seconds = (performance.now() - began) / 1000;
    const holds = hive.requests.slice(from).filter(({ url }) => url.includes('cursor='));
    assert.ok(holds.length <= 2 + seconds, `${holds.length} holds in ${seconds} s`);
    await hive.heal();
    await delivered(home, hive, 'team-ada');
  });

  test('trap 68: with no reader nothing stalls and nothing becomes a plain file: who follows later gets each message once, in order', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    using home = trayHome({ ...FAST, hives: [{ name: 'team', base: hive.url }] });
    await using tray = await home.start(NO_SURFACES);
    await up(tray, 'team');
    const args = ['tail', 'team-ada', '--cursor', home.at('reader')];
    const mailIn = (text: string): unknown[] =>
      text
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as { event: string; id?: number })
        .flatMap(({ event, id }) => (event === 'new' ? [id] : []));
    const ids: number[] = [];
    const sent: number[] = [];
    for (const _ of [1, 2]) {
      const now = Array.from({ length: 20 }, () => hive.deliver('ada'));
      sent.push(...now);
      await until('they are told', () => home.mail('team-ada').length === sent.length);
      const { code, stdout, stderr } = await home.run(args);
      assert.deepEqual([code, stderr], [0, '']);
      assert.deepEqual(mailIn(stdout), now, 'what came since the reader was last there');
      ids.push(...now);
    }
    assert.deepEqual(ids, sent);
  });

  test('trap 70: a stop in the middle of a hold of 50 s ends it at once', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    using home = trayHome({ ...FAST, pollSeconds: 60, holdSeconds: 50, hives: [{ name: 'team', base: hive.url }] });
    await using tray = await home.start(NO_SURFACES);
    await tray.persona('team-ada', ({ state }) => state === 'UP');
    await until('a hold', () => hive.asked('pending').some(({ url }) => url.includes('wait=50')));
    const { code, ms } = await tray.stop();
    assert.equal(code, 0);
    assert.ok(ms < 5000, `${ms} ms`);
  });

  test('D12: the token in the environment of the tray process reaches its hive, and no program it opens', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada'], token: 'secret' });
    const output = files.at('env');
    const argv = ['/bin/sh', '-c', `env >'${output}.part'; mv '${output}.part' '${output}'`];
    using home = trayHome({ ...FAST, primary: { is: 'kijito', base: hive.url }, opener: { is: 'command', argv } });
    await using tray = await home.start(NO_SURFACES, { KIJITOMON_TOKEN: 'secret', STAYS: 'yes' });
    await tray.persona('ada', ({ state }) => state === 'UP');
    await tray.post('/api/v1/actions/open', { persona: 'ada' });
    await until('the command ran', () => existsSync(output));
    const env = readFileSync(output, 'utf8');
    assert.match(env, /^STAYS=yes$/m);
    assert.match(env, /^HIVEBAR_PERSONA=ada$/m);
    assert.doesNotMatch(env, /secret|KIJITOMON_TOKEN/);
  });

  test('a token in the environment that no header can carry is a cause of the primary hive, and no exit', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    using home = trayHome({ ...FAST, primary: { is: 'kijito', base: hive.url } });
    await using tray = await home.start(NO_SURFACES, { KIJITOMON_TOKEN: 'a\nb' });
    await tray.until('a reason', (now) => /no header can carry/.test(findHive(now, 'kijito')?.reason ?? ''));
    assert.equal(hive.requests.length, 0);
  });
});
