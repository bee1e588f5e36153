import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { buildTrayModel } from '../../app/tray/index.ts';
import { brainclaw, DATA } from '../kit/brainclaw-store.ts';
import { desktopMissing, startDesktop } from '../kit/desktop/index.ts';
import { needs } from '../kit/require.ts';
import { type Scratch, scratch } from '../kit/scratch.ts';
import { standIn, type TrayHome, trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';
import { watching } from '../kit/watch-brainclaw.ts';
import { sleeper } from '../kit/watch-garden.ts';

const BOARD = 'bc-prj_lab0001';

function labHome(place: Scratch): TrayHome {
  cpSync(join(DATA, 'journal'), place.at('lab'), { recursive: true });
  return trayHome({ primary: { is: 'local' }, brainclaw: { is: 'on', projects: [place.at('lab')] } });
}

test('the menu has a row for the board and one for each agent that has mail, with the numbers of the status', async (t) => {
  if (needs(t, desktopMissing())) return;
  await using desktop = await startDesktop({ notify: 'none' });
  const { DBUS_SESSION_BUS_ADDRESS = '' } = desktop.env;
  using place = scratch();
  using home = labHome(place);
  await using tray = await home.start(['--no-notifications'], { DBUS_SESSION_BUS_ADDRESS });
  await tray.until('all that is unread', ({ totals }) => totals.unread === 24);
  const menu = desktop.tray.of(tray.pid);
  await menu.waitLabel(/^lab - 20 unread( · .*)?$/);
  await menu.waitLabel(/^codex · lab - 2 unread( · .*)?$/);
  assert.match((await menu.menu())[0]?.label ?? '', /^24 unread/);
  const metrics = await (await fetch(`${tray.url}/metrics`)).text();
  assert.match(metrics, new RegExp(`^hivebar_persona_unread\\{persona="${BOARD}",[^}]*\\} 20$`, 'm'));
});

test('the model of the menu says of a project what the snapshot says: its board, its agents, and the sum', async () => {
  using store = brainclaw();
  using home = scratch();
  await using all = await watching(store.root, home);
  await all.until('its board', ({ unread }) => unread.is === 'exact');
  await all.until('codex', ({ unread }) => unread.is === 'exact', 'codex');
  await until('all four agents', () => {
    const { unread } = all.snapshot().totals;
    return unread.is === 'exact' && unread.n === 24;
  });
  const { menu } = buildTrayModel(all.snapshot(), Date.now(), () => '');
  const labels = JSON.stringify(menu);
  const folder = basename(store.dir);
  for (const row of [`${folder} - 20 unread`, `codex · ${folder} - 2 unread`, '24 unread'])
    assert.ok(labels.includes(`"${row}`), `${row}: ${labels.slice(0, 2000)}`);
});

test('Open session on a board opens the page at it; on an agent the session that it registered', async () => {
  using place = scratch();
  using home = labHome(place);
  const browser = standIn(home, 'xdg-open');
  const terminal = standIn(home, 'xterm');
  const codex = standIn(home, 'codex');
  const agent = `${BOARD}-codex`;
  await using runner = await sleeper();
  const set = [
    'session',
    'set',
    agent,
    '--pid',
    `${runner.pid}`,
    '--cwd',
    place.at('lab'),
    '--',
    'codex',
    'resume',
    'x 1',
  ];
  assert.equal((await home.run(set)).code, 0);
  await runner.end();
  const display = { DISPLAY: ':9' }; // a desktop without which no program with a window is started
  await using tray = await home.start(['--no-tray', '--no-notifications'], {
    ...{ ...browser.env, ...terminal.env, ...codex.env, ...display, TERMINAL: 'xterm' },
    PATH: [browser, terminal, codex].map(({ env }) => env.PATH).join(':'),
  });
  await tray.persona(BOARD, ({ unread }) => unread === 20);
  await tray.post('/api/v1/actions/open', { persona: BOARD });
  await until('the page', () => browser.calls.some((url) => url.endsWith(`&persona=${BOARD}`)));
  await tray.post('/api/v1/actions/open', { persona: agent });
  await until('the terminal', () => terminal.calls.length >= 4);
  const [dash, program, ...args] = terminal.calls;
  assert.deepEqual([dash, program?.endsWith('codex'), args], ['-e', true, ['resume', 'x 1']]);
});
