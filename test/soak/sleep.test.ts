import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type TrayOnAFakeClock, trayOnAFakeClock } from './tray-on-a-fake-clock.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const PERSONAS = ['ada', 'bo', 'cy'];
/** One interval, the time a request is given, and a moment for the tray to be drawn. */
const SOON = 60 * SECOND + 5 * SECOND + SECOND;

const states = (tray: TrayOnAFakeClock) => [...new Set(tray.snapshot().personas.map(({ health }) => health.is))];
const edges = (tray: TrayOnAFakeClock, persona: string) =>
  tray.events(persona).filter((event) => event === 'alert' || event === 'recovered');
const banners = (tray: TrayOnAFakeClock) => tray.banners().map((banner) => banner.is);

/** Milliseconds until it is so. @throws when it is not within `ms` */
async function passes(tray: TrayOnAFakeClock, ms: number, isSo: () => boolean): Promise<number> {
  for (let passed = 0; passed <= ms; passed += 100) {
    if (isSo()) return passed;
    await tray.clock.advance(100);
  }
  assert.fail(`not within ${ms} ms: ${JSON.stringify(tray.snapshot().personas.map(({ health }) => health))}`);
}

// S5
for (const away of [16, 41, 59, 73].map((s) => s * SECOND)) {
  test(`a hive that swallows every question for ten minutes and heals ${away / SECOND} s later is seen within an interval and a timeout`, async () => {
    await using tray = await trayOnAFakeClock({ personas: PERSONAS });
    tray.hive.weather = { is: 'hangs' };
    await tray.clock.advance(10 * MINUTE + away);
    assert.deepEqual(states(tray), ['down']);
    tray.hive.deliver('ada');
    tray.hive.weather = { is: 'well' };
    await passes(tray, SOON, () => tray.events('ada').includes('new'));
    await passes(tray, SECOND, () => states(tray).join() === 'up');
    await tray.clock.advance(100); // to the event files
    for (const persona of PERSONAS) assert.deepEqual(edges(tray, persona), ['alert', 'recovered'], persona);
  });
}

test('S5: after two hours of sleep everything is polled within the beat, and mail that came is told', async () => {
  await using tray = await trayOnAFakeClock({ personas: PERSONAS });
  for (const sleep of [() => tray.clock.setBy(120 * MINUTE), () => tray.clock.stopFor(120 * MINUTE)]) {
    const before = tray.events('bo').length;
    const { resets } = tray.hive;
    tray.hive.weather = { is: 'hangs' }; // nothing comes through what was open before
    sleep();
    tray.hive.deliver('bo');
    tray.hive.weather = { is: 'well' };
    await passes(tray, 5 * SECOND + 200, () => tray.events('bo').length > before);
    assert.equal(tray.hive.resets, resets + 1);
  }
});

test('S5: what came in the sleep for many personas is one banner', async () => {
  const many = Array.from({ length: 20 }, (_, i) => `p${i}`);
  await using tray = await trayOnAFakeClock({ personas: many });
  tray.clock.stopFor(120 * MINUTE);
  for (const persona of many) for (let n = 0; n < 5; n++) tray.hive.deliver(persona);
  await tray.clock.advance(2 * MINUTE);
  assert.ok(many.every((persona) => tray.events(persona).filter((event) => event === 'new').length === 5));
  const shown = tray.banners();
  assert.deepEqual(
    shown.map(({ is }) => is),
    ['mail'],
  );
  assert.match(`${shown[0]?.title} ${shown[0]?.body}`, /100/);
});

test('S5: a network that is back 25 s after waking up is no outage, for the agent nor for the person', async () => {
  await using tray = await trayOnAFakeClock({ personas: PERSONAS, settings: { pollSeconds: 5 } });
  await tray.clock.advance(MINUTE);
  tray.banners();
  tray.hive.weather = { is: 'refuses', code: 'dns' };
  tray.clock.stopFor(60 * MINUTE);
  await tray.clock.advance(25 * SECOND);
  assert.deepEqual(states(tray), ['failing']);
  tray.hive.weather = { is: 'well' };
  await passes(tray, 10 * SECOND + SECOND, () => states(tray).join() === 'up');
  await tray.clock.advance(5 * MINUTE);
  for (const persona of PERSONAS) assert.deepEqual(edges(tray, persona), [], persona);
  assert.deepEqual(banners(tray), []);
});

test('S5: one that stays away is told once the grace time is over', async () => {
  await using tray = await trayOnAFakeClock({ personas: PERSONAS, settings: { pollSeconds: 5 } });
  tray.hive.weather = { is: 'refuses', code: 'dns' };
  tray.clock.stopFor(60 * MINUTE);
  await tray.clock.advance(30 * SECOND);
  assert.deepEqual(edges(tray, 'ada'), []);
  await passes(tray, 6 * SECOND, () => edges(tray, 'ada').length > 0);
});

test('S5: a hive that is not there at the start is asked at least once a minute, for ever, and at once after a gap', async () => {
  await using tray = await trayOnAFakeClock({ personas: PERSONAS, weather: { is: 'refuses', code: 'refused' } });
  await tray.clock.advance(6 * 60 * MINUTE);
  assert.deepEqual(tray.snapshot().personas, []);
  tray.hive.weather = { is: 'well' };
  await passes(tray, SOON, () => states(tray).join() === 'up' && tray.snapshot().personas.length === PERSONAS.length);

  await using other = await trayOnAFakeClock({ personas: PERSONAS, weather: { is: 'refuses', code: 'refused' } });
  await other.clock.advance(6 * 60 * MINUTE + 3 * SECOND);
  other.hive.weather = { is: 'well' };
  other.clock.setBy(MINUTE);
  await passes(
    other,
    5 * SECOND + 200,
    () => other.snapshot().personas.length === PERSONAS.length && other.snapshot().causes.length === 0,
  );
});

test('S2: nothing unread, three polls refused, then well: icon and board are UP on the first good poll; one banner down, one up', async () => {
  await using tray = await trayOnAFakeClock({ personas: PERSONAS });
  await tray.clock.advance(2 * MINUTE);
  const well = tray.drawn?.icon;
  tray.banners();
  tray.hive.weather = { is: 'refuses', code: 'refused' };
  await passes(tray, 5 * MINUTE, () => states(tray).join() === 'down');
  await tray.clock.advance(6 * SECOND);
  assert.notDeepEqual(tray.drawn?.icon, well);
  tray.hive.weather = { is: 'well' };
  await passes(tray, SOON, () => states(tray).join() === 'up');
  await tray.clock.advance(SECOND);
  assert.deepEqual(tray.drawn?.icon, well);
  await tray.clock.advance(5 * MINUTE);
  assert.deepEqual(banners(tray), ['outage', 'recovery']);
});
