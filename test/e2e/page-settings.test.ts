import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import type { BrowserContextOptions } from 'playwright-core';
import { NOTIFY_SETTING } from '../../app/notify/channels/index.ts';
import { browserFor, findAccessibilityFaults, live, measureOverflow, openTab } from '../kit/browser.ts';
import { fakeHive } from '../kit/fake-hive.ts';
import { type TrayHome, trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

/** The settings on the page, of a real tray process. */
const SETTINGS = { primary: { is: 'local' }, pollSeconds: 1, holdSeconds: 1 };
const RULES = [
  { persona: 'ada', only: ['urgent', 'questions'], sound: true },
  { persona: 'garden-*', only: [] },
];
const BARE = ['--no-tray', '--no-notifications'];

async function open(t: TestContext, home: TrayHome, options: BrowserContextOptions = {}) {
  const browser = await browserFor(t);
  if (browser === null) return null;
  t.after(() => browser.close());
  const context = await browser.newContext({ bypassCSP: true, ...options });
  const complaints: string[] = [];
  const page = await openTab(context, (await home.run(['open', '--print'])).stdout.trim(), complaints);
  await live(page);
  await page.evaluate("location.hash = '#settings'");
  await page.getByRole('heading', { name: 'Logged-in browsers' }).waitFor();
  return { page, complaints };
}

test('quiet hours and hives are changed on the page and apply at once', async (t) => {
  using home = trayHome(SETTINGS);
  await using team = await fakeHive({ personas: ['ada'] });
  await using tray = await home.start(BARE);
  const opened = await open(t, home);
  if (opened === null) return;
  const { page, complaints } = opened;
  const words = page.locator('#place-settings .said');

  await page.getByLabel('Quiet from').fill('00:00');
  await page.getByLabel('to', { exact: true }).fill('23:59');
  await page.getByRole('button', { name: 'Set quiet hours' }).click();
  await words.filter({ hasText: 'Quiet from 00:00 to 23:59.' }).waitFor();
  assert.notEqual((await tray.status()).notifications.quietUntil, null);
  await page.getByRole('button', { name: 'No quiet hours' }).click();
  await words.filter({ hasText: 'There are no quiet hours.' }).waitFor();
  assert.equal((await tray.status()).notifications.quietUntil, null);

  await page.getByLabel('Address').fill(team.url);
  await page.getByRole('button', { name: 'Add hive' }).click();
  await words.filter({ hasText: 'cannot derive a name' }).waitFor();
  await page.getByLabel('Name').fill('team');
  await page.getByRole('button', { name: 'Add hive' }).click();
  await tray.persona('team-ada', ({ state }) => state === 'UP');
  await page.getByRole('button', { name: 'Remove team' }).click();
  await words.filter({ hasText: 'team is not watched any more' }).waitFor();
  assert.deepEqual((await tray.status()).hives.map(({ source }) => source).includes('team'), false);
  assert.deepEqual(
    complaints.filter((line) => !line.includes('400')),
    [],
  );
});

test('rules for notifications are added, ordered and removed with the keyboard, and apply at once', async (t) => {
  using home = trayHome(SETTINGS);
  const file = home.at('notifications.ndjson');
  await home.run(['config', 'set', 'channels', JSON.stringify({ file: { path: file } })]);
  await using _tray = await home.start(BARE);
  const opened = await open(t, home);
  if (opened === null) return;
  const { page } = opened;
  const words = page.locator('#place-settings .said');
  const rules = page.locator('.rules > fieldset');
  const press = async (name: string): Promise<void> => page.getByRole('button', { name, exact: true }).press('Enter');
  const readRules = (): unknown => JSON.parse(readFileSync(home.at('config', 'config.json'), 'utf8')).notify;
  const notified = (): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');

  await press('Add a rule');
  await page.keyboard.type('a*a');
  await page.keyboard.press('Enter');
  await words
    .filter({ hasText: 'rule 1: persona: must be an id, or the beginning of ids and a *, not "a*a"' })
    .waitFor();
  assert.equal(readRules(), undefined);
  assert.equal(await page.locator(':focus').inputValue(), 'a*a');
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.type('b*');
  await press('Add a rule');
  await page.keyboard.type('ada');
  const ada = page.getByRole('group', { name: 'Rule 2' });
  await ada.getByLabel('Notifies of').selectOption('only some kinds');
  assert.deepEqual(
    await ada.getByRole('checkbox').evaluateAll((boxes) => boxes.map((box) => (box as { value?: string }).value)),
    [...NOTIFY_SETTING.items.properties.only.items.enum],
  );
  await ada.getByLabel('urgent mail').press('Space');
  await ada.getByLabel('Sound').selectOption('on');
  await press('Move up rule 2');
  assert.equal(await page.locator(':focus').getAttribute('aria-label'), 'Move down rule 1');
  await press('Save rules');
  await words.filter({ hasText: 'The rules are saved and apply now.' }).waitFor();
  assert.deepEqual(readRules(), [{ persona: 'ada', only: ['urgent'], sound: true }, { persona: 'b*' }]);

  await home.run(['inbox', 'push', '--to', 'ada', '--create', 'no hurry']);
  await home.run(['inbox', 'push', '--to', 'bo', '--create', 'no hurry']);
  await until('a notification of bo', () => notified().includes('"mail:bo"'));
  assert.ok(!notified().includes('"mail:ada"'), notified());
  await home.run(['inbox', 'push', '--to', 'ada', '--priority', '0', 'now']);
  await until('a notification of ada', () => notified().includes('"mail:ada"'));

  await press('Remove rule 1');
  await press('Discard changes');
  assert.equal(await rules.count(), 2);
  await press('Remove rule 2');
  await press('Remove rule 1');
  await press('Save rules');
  await until('no rules', () => readRules() === undefined);
});

test('a browser sees the others, revokes one, and logs itself out', async (t) => {
  using home = trayHome(SETTINGS);
  await using tray = await home.start(BARE);
  const other = await open(t, home);
  const own = await open(t, home);
  if (other === null || own === null) return;
  const rows = own.page.locator('#place-settings li', { hasText: 'on Linux' });
  assert.equal(await rows.count(), 2);
  await rows.filter({ hasNotText: 'this browser' }).getByRole('button').click();
  await other.page.locator('#notice', { hasText: 'was logged out' }).waitFor();
  await rows.filter({ hasText: 'this browser' }).getByRole('button').click();
  await own.page.locator('#notice', { hasText: 'was logged out' }).waitFor();
  assert.equal((await home.run(['devices'])).stdout, 'no browser is logged in: open a link with hivebar open\n');
  await tray.stop();
});

for (const colorScheme of ['light', 'dark'] as const)
  test(`axe finds nothing, and a phone needs no sideways scrolling: ${colorScheme}`, async (t) => {
    using home = trayHome({ ...SETTINGS, quietHours: { from: '22:00', to: '07:00' }, notify: RULES });
    await using tray = await home.start(BARE);
    const opened = await open(t, home, { colorScheme });
    if (opened === null) return;
    const { page } = opened;
    await page.locator('#place-settings summary').click();
    const folder = process.env.HIVEBAR_PICTURES;
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 900 });
      if (folder !== undefined)
        await page.screenshot({ path: `${folder}/settings-${colorScheme}-${width}.png`, fullPage: true });
      assert.equal(await measureOverflow(page), 0, `at ${width}`);
      assert.deepEqual(await findAccessibilityFaults(page), [], `at ${width}`);
    }
    await tray.stop();
  });
