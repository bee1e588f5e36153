import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type DaemonHome, daemonHome } from '../kit/daemon-process.ts';
import { shimNotes, standInShim } from '../kit/shim-record.ts';
import { until } from '../kit/until.ts';
import { referenceUpstream } from '../kit/upstream/index.ts';

/** So fast that the 30 s after a connection are soon over. */
const FASTER = 10;

/** As the shell part of the hook does when there is nothing to ask about. */
function note(home: DaemonHome, moment: string): void {
  writeFileSync(join(home.dir, 'run', 'activity', 'ada'), `${moment}\n`);
}

describe('an agent whose hook had nothing to ask about (persona daemon, contract 4)', () => {
  test('given a Stop that was only noted, when something comes, it is woken, once', async () => {
    await using up = await referenceUpstream({ pingMs: 50 });
    using home = daemonHome();
    const ada = up.persona('acme', 'ada');
    const record = join(home.project, 'shim');
    home.install(ada, up, { surface: 'codex', wakeIdle: true, shim: { command: standInShim(record) } });
    await using daemon = await home.start(ada, { faster: FASTER });
    await daemon.connected();
    const rings = (): number => shimNotes(record).filter(({ asked }) => asked?.call === 'notify_surface').length;
    const wait = async (seconds: number): Promise<void> => {
      const { uptime_s: from } = await daemon.status();
      await daemon.until(`${seconds} s passed`, ({ uptime_s: now }) => now >= from + seconds);
    };

    note(home, 'UserPromptSubmit');
    ada.signals(1);
    await daemon.until('it knows', ({ pending }) => pending.count === 1 && pending.fresh);
    await wait(40); // past the 30 s in which nobody is woken anyway
    assert.equal(rings(), 0, 'nobody is woken in the middle of a turn');

    note(home, 'Stop');
    await until('it is woken', () => rings() === 1);
    await daemon.until('it was taken', ({ fsm, outstanding }) => fsm === 'CONNECTED' && outstanding !== null);
    ada.drain();
    await daemon.until('it was drained', ({ outstanding }) => outstanding === null);
    ada.signals(1);
    await daemon.until('it knows', ({ pending }) => pending.count === 1 && pending.fresh);
    await wait(15);
    assert.equal(rings(), 1, 'one ring at one rest');
  });
});
