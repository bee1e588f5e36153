import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { realClock, silentLog } from '../../core/ports/index.ts';
import { snapshot } from '../../test/kit/menu-samples.ts';
import { openTray, type TrayNeeds } from './choose.node.ts';
import { openIcons } from './icons.node.ts';
import { buildTrayModel } from './menu.ts';

const icons = openIcons(join(import.meta.dirname, '../../assets/icons'));

async function recordStates(needs: Partial<TrayNeeds>): Promise<string[]> {
  const states: string[] = [];
  const logged: string[] = [];
  await using driver = await openTray({
    choice: 'auto',
    bus: { is: 'none', why: 'nothing is set' },
    icons,
    helperFolder: '/nowhere',
    env: {},
    events: { onAction: () => {}, onState: (text) => states.push(text) },
    clock: realClock,
    log: { ...silentLog, info: (line) => logged.push(line) },
    ...needs,
  });
  driver?.show(buildTrayModel(snapshot([]), 0, () => ''));
  assert.deepEqual(
    logged,
    states.map((state) => `tray: ${state}`),
  );
  return states;
}

test('switched off, it says so and shows nothing', async () => {
  assert.deepEqual(await recordStates({ choice: 'none' }), ['off (switched off)']);
});

test('S9: without a bus there is no icon, and one line that says why', async () => {
  assert.deepEqual(await recordStates({ choice: 'sni' }), ['off (no session bus: nothing is set)']);
  if (process.platform === 'linux') assert.deepEqual(await recordStates({}), await recordStates({ choice: 'sni' }));
});

test('the helper is not even started where no display is', async () => {
  if (process.platform === 'linux') assert.deepEqual(await recordStates({ choice: 'systray2' }), ['off (no display)']);
});
