import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_NATS_SERVER } from '../kit/nats-server.ts';
import { relayRig } from '../kit/relay-rig.ts';
import { needs } from '../kit/require.ts';
import { trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

const LOCAL = { primary: { is: 'local' } };

test('what is sent on one machine is an event line on the other; the server is killed, and so is the tray program', async (t) => {
  if (needs(t, NO_NATS_SERVER)) return;
  await using rig = await relayRig();
  using a = trayHome({ ...LOCAL, nats: settings('ada') });
  using b = trayHome({ ...LOCAL, nats: settings('bo') });
  await using trayA = await a.start();
  let trayB = await b.start();
  const isUp = (tray: typeof trayA) =>
    tray.until('the server is reached', ({ hives }) =>
      hives.some(({ source, state }) => source === 'nats' && state === 'UP'),
    );
  await Promise.all([isUp(trayA), isUp(trayB)]);

  assert.equal((await a.run(['send', '--to', 'bo', '--from', 'ada', '--urgent', 'one'])).code, 0);
  await until('bo has the event', () => b.mail('bo').length === 1);
  const line = b.events('bo').find(({ event }) => event === 'new');
  assert.deepEqual([line?.from, line?.content, line?.persona], ['ada', 'one', 'bo']);
  assert.equal((await b.run(['send', '--to', 'ada', '--from', 'bo', 'answer'])).code, 0);
  await until('ada has the event', () => a.mail('ada').length === 1);

  // The server is away: a cause on the board, once, with what to do; mail is accepted all the same.
  await rig.server.kill();
  const { causes } = await trayA.until('the cause', (now) => now.causes.length > 0, 40_000);
  assert.deepEqual(
    causes.map(({ key }) => key),
    ['nats'],
  );
  assert.match(causes[0]?.message ?? '', /connection refused .*: check that the server is running/);
  for (const text of ['two', 'three']) await a.run(['send', '--to', 'bo', '--from', 'ada', text]);

  // The other program dies too, and finds everything when both are back.
  await trayB.kill();
  await rig.restart();
  await isUp(trayA);
  await trayA.until('no cause', (now) => now.causes.length === 0);
  trayB = await b.start();
  try {
    await until('bo has all', () => b.mail('bo').length === 3);
    const texts = b.events('bo').flatMap(({ event, content }) => (event === 'new' ? [content] : []));
    assert.deepEqual(texts, ['one', 'two', 'three']);
    assert.equal(trayA.log.filter((output) => /^NATS: .*refused/.test(output)).length, 1);
    assert.equal(trayA.log.filter((output) => /^NATS: it works again/.test(output)).length, 1);
    const { code, ms } = await trayB.stop();
    assert.equal(code, 0);
    assert.ok(ms < 10_000, `it took ${ms} ms to end`);
  } finally {
    await trayB[Symbol.asyncDispose]();
  }

  function settings(persona: string): object {
    return { url: rig.server.url, tokenFile: rig.tokenFile, personas: [persona] };
  }
});

test('a token file that is missing is a cause and no end, and counts as soon as it is there', async (t) => {
  if (needs(t, NO_NATS_SERVER)) return;
  await using rig = await relayRig();
  const file = `${rig.dir}/later`;
  using home = trayHome({ ...LOCAL, nats: { url: rig.server.url, tokenFile: file } });
  await using tray = await home.start();
  const { causes } = await tray.until('the cause', (now) => now.causes.length > 0);
  assert.deepEqual(
    causes.map(({ key }) => key),
    ['nats'],
  );
  assert.match(causes[0]?.message ?? '', /token file .* cannot be read/);
  rig.write('later', rig.server.token);
  await tray.until('no cause', (now) => now.causes.length === 0);
});

test('C11 given mail for a persona of another machine, it is sent mail here: no unread, no event file, nobody on the board', async (t) => {
  if (needs(t, NO_NATS_SERVER)) return;
  await using rig = await relayRig();
  const nats = { url: rig.server.url, tokenFile: rig.tokenFile };
  using a = trayHome({ ...LOCAL, nats });
  using b = trayHome({ ...LOCAL, nats });
  await using trayA = await a.start();
  // Nobody knows yet where bo lives.
  for (const text of ['one', 'two']) await a.run(['send', '--to', 'bo', '--from', 'ada', text]);
  await trayA.persona('bo', ({ unread }) => unread === 2);
  await using trayB = await b.start();
  assert.equal((await b.run(['session', 'set', 'bo', '--id', 's1'])).code, 0);
  await until('bo has its mail where it lives', () => b.mail('bo').length === 2, 60_000);
  await trayA.until('bo is not of this machine', ({ personas }) => personas.every(({ id }) => id !== 'bo'), 60_000);
  await a.run(['send', '--to', 'bo', '--from', 'ada', '--urgent', 'three']);
  await until('bo has that too', () => b.mail('bo').length === 3, 60_000);
  const { totals, personas } = await trayA.status();
  assert.deepEqual([totals.unread, totals.urgent, personas.map(({ id }) => id)], [0, 0, []]);
  assert.equal(a.mail('bo').length, 2, 'what was told before it was known');
  const listed = JSON.parse((await a.run(['inbox', 'list', 'bo', '--json'])).stdout) as { content: string }[];
  assert.deepEqual(
    listed.map(({ content }) => content),
    ['three', 'two', 'one'],
    'what was sent is kept',
  );
  await trayB.persona('bo', ({ unread }) => unread === 3);
});
