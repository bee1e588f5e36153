import assert from 'node:assert/strict';
import { test } from 'node:test';
import { trayHome } from '../kit/tray-process.ts';

const NO_SURFACES = ['--no-tray', '--no-notifications'];

for (const end of ['stop', 'kill'] as const) {
  test(`given an inbox that is up, its "up since" outlasts a ${end} and a new start of Hivebar`, async () => {
    using home = trayHome();
    await home.run(['send', '--to', 'ada', '--from', 'bo', 'hello']);
    let stopped = 0;
    {
      await using tray = await home.start(NO_SURFACES);
      await tray.persona('ada', ({ state, unread }) => state === 'UP' && unread === 1);
      // the history is asked, so that it is written before the process is killed
      const answer = await fetch(`${tray.url}/api/v1/personas/ada/uptime`);
      const { uptime } = (await answer.json()) as { uptime: { '24h': { up: number | null } } };
      assert.ok(uptime['24h'].up === 1 || uptime['24h'].up === null);
      stopped = Date.now();
      await tray[end]();
    }
    await using tray = await home.start(NO_SURFACES);
    const { since } = await tray.persona('ada', ({ state }) => state === 'UP');
    assert.ok(Date.parse(since ?? '') < stopped, `up since ${since}`);
  });
}
