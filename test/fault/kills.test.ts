import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openLocalHive } from '../../core/inbox/index.ts';
import { realClock, silentLog } from '../../core/ports/index.ts';
import { openDatabase } from '../../core/state/index.ts';
import { type TrayHome, trayHome } from '../kit/tray-process.ts';

/** In each of two homes at once. */
const KILLS = Number(process.env.HIVEBAR_KILLS ?? 50);
const PERSONAS = ['ada', 'bo', 'cy'];

/** Sends as the command line does, all the time: what returned was accepted. */
function load(home: TrayHome): { readonly accepted: Map<string, number[]>; stop(): Promise<void> } {
  const accepted = new Map<string, number[]>(PERSONAS.map((name) => [name, []]));
  let isOver = false;
  const sending = (async () => {
    using db = openDatabase(home.at('hivebar.sqlite'));
    using hive = openLocalHive({ db, clock: realClock, log: silentLog, contentChars: null });
    for (let n = 0; !isOver; n += 1) {
      const to = PERSONAS[n % PERSONAS.length] ?? 'ada';
      const { id } = hive.sendNow({ to, from: 'load', content: `mail ${n}`, urgent: n % 7 === 0 });
      accepted.get(to)?.push(id);
      await sleep(Math.random() * 30);
    }
  })();
  return {
    accepted,
    stop: async () => {
      isOver = true;
      await sending;
    },
  };
}

describe('killed 100 times under load', { concurrency: true }, () => {
  for (const half of [1, 2]) {
    test(`what was accepted is told once, in order, and is all there (half ${half})`, async () => {
      using home = trayHome({ primary: { is: 'local' }, maxReplay: 1_000_000 });
      await (await home.start()).stop(); // its directories
      const sender = load(home);
      for (let kill = 0; kill < KILLS; kill += 1) {
        await using cli = home.spawn();
        // Two in three die while they start or catch up, the others at work.
        if (kill % 3 === 0) await cli.says(/is running: http/, 30_000);
        await sleep(Math.random() * (kill % 3 === 0 ? 150 : 400));
        cli.kill('SIGKILL');
        assert.deepEqual(await cli.ended(), { code: null, signal: 'SIGKILL' }, 'it did not end by itself');
      }
      await using tray = await home.start();
      await sender.stop();
      // The sender tells nobody, and what came after the first look would wait for the next one, a minute later.
      assert.equal((await home.run(['poll'])).code, 0);
      for (const [name, ids] of sender.accepted) {
        await tray.cli.until(`all events of ${name}`, () => home.mail(name).length >= ids.length, 30_000);
        assert.deepEqual(home.mail(name), ids, name);
        await tray.persona(name, ({ unread }) => unread === ids.length);
      }
    });
  }
});
