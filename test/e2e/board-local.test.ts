import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { StatusWire } from '../../app/status/index.ts';
import { type TrayHome, trayHome } from '../kit/tray-process.ts';

/** What only the hive of this machine knows is on the board, whoever changed it, and goes again. */
const ran = async (home: TrayHome, ...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await home.run(args);
  assert.deepEqual([code, stderr], [0, ''], stdout);
  return stdout;
};
const findPersona = (status: StatusWire, id: string) => status.personas.find((persona) => persona.id === id);

describe('what waits on this machine', () => {
  test('is on the board by priority, also for one session and as a broadcast, until it was drained', async () => {
    using home = trayHome();
    await using tray = await home.start();
    const push = (...args: string[]) => ran(home, 'inbox', 'push', '--source', 'ci', ...args);
    await ran(home, 'session', 'set', 'ada', '--id', 's1', '--pid', String(process.pid));
    await push('--to', 'ada', '--priority', '0', 'fire');
    await push('--to', 'ada', '--priority', '3', '--session', 's1', 'later');
    await push('--broadcast', '--priority', '1', 'all');
    await tray.until('all are counted', (status) => String(findPersona(status, 'ada')?.pending) === '1,1,0,1,0');
    const { code } = await home.run(['inbox', 'drain'], { env: { HIVEBAR_PERSONA: 'ada' } });
    assert.equal(code, 0);
    await tray.until(
      'what was drained is gone',
      (status) => String(findPersona(status, 'ada')?.pending) === '0,0,0,1,0',
    );
  });

  test('a decision is on the board from being asked to being answered, asked by who never had mail too', async () => {
    using home = trayHome();
    await using tray = await home.start();
    await ran(home, 'decision', 'create', '--as', 'bo', '--option', 'y=Yes', '--urgency', 'high', 'Ship it?');
    const asked = await tray.until('it is there', ({ decisions }) => decisions.length === 1);
    const [decision] = asked.decisions;
    assert.deepEqual([decision?.persona, decision?.urgency, decision?.id], ['bo', 'high', 1]);
    assert.ok(!JSON.stringify(asked).includes('Ship'), 'its words need the token');
    await tray.post('/api/v1/actions/decide', { decision: 1, select: 'y' });
    await tray.until('it is gone', ({ decisions }) => decisions.length === 0);
    await ran(home, 'decision', 'create', '--as', 'bo', '--option', 'y=Yes', '--timeout', '1s', 'Again?');
    await tray.until('it is there', ({ decisions }) => decisions.length === 1);
    await tray.until('its time is over', ({ decisions }) => decisions.length === 0);
    await ran(home, 'decision', 'create', '--as', 'bo', '--option', 'y=Yes', 'And again?');
    await tray.until('it is there', ({ decisions }) => decisions.length === 1);
    await ran(home, 'decision', 'respond', '3', '--select', 'y');
    await tray.until('another process answered it', ({ decisions }) => decisions.length === 0);
  });

  test('an agent that waits for an answer is shown as waiting, and its event of the end comes with the answer', async () => {
    using home = trayHome();
    await using tray = await home.start();
    await ran(home, 'inbox', 'push', '--to', 'ada', '--source', 'ci', '--priority', '4', 'hello');
    await tray.persona('ada', ({ agent }) => agent === 'unknown');
    const asking = home.run(['decision', 'create', '--as', 'ada', '--option', 'y=Yes', '--wait', 'Ship it?']);
    const ada = await tray.persona('ada', ({ agent }) => agent === 'waiting');
    assert.equal(ada.agentReason, 'decision');
    const { stdout } = await home.run(['status']);
    assert.match(stdout, /^1 question for you, /);
    assert.match(stdout, /WAITS .* ada: 1 question for you, waits for your decision, \d/);
    await ran(home, 'decision', 'respond', '1', '--select', 'y');
    assert.equal((await asking).code, 0);
    await tray.persona('ada', ({ agent }) => agent === 'unknown');
    const waits = () =>
      home
        .events('ada')
        .flatMap(({ event, reason, wake_class: wakes }) =>
          event === 'waiting' || event === 'resumed' ? [[event, reason, wakes]] : [],
        );
    await tray.cli.until('the end of the wait', () => waits().length > 1);
    assert.deepEqual(waits(), [
      ['waiting', 'decision', 'diagnostic'],
      ['resumed', 'decision', 'diagnostic'],
    ]);
  });

  test('a gate is on the board from being registered to being satisfied; one that nobody registered is not', async () => {
    using home = trayHome();
    await using tray = await home.start();
    await ran(home, 'inbox', 'push', '--to', 'ada', '--source', 'ci', 'x');
    await tray.until('ada is there without gates', (status) => findPersona(status, 'ada')?.pending !== null);
    assert.deepEqual(findPersona(await tray.status(), 'ada')?.gates, []);
    const gate = ['--hook', 'Stop', '--mode', 'strict', '--description', 'the tests pass', '--persona', 'ada'];
    await ran(home, 'gate', 'register', 'tests', ...gate);
    const shown = await tray.until('it is there', (status) => findPersona(status, 'ada')?.gates.length === 1);
    assert.deepEqual(findPersona(shown, 'ada')?.gates, [{ id: 'tests', hook: 'Stop', mode: 'strict' }]);
    await ran(home, 'gate', 'mark', 'tests', '--persona', 'ada');
    await tray.until('it is satisfied', (status) => findPersona(status, 'ada')?.gates.length === 0);
    await ran(home, 'gate', 'clear', 'tests', '--persona', 'ada');
    await tray.until('it is open again', (status) => findPersona(status, 'ada')?.gates.length === 1);
    await ran(home, 'decision', 'create', '--as', 'ada', '--option', 'y=Yes', 'Ship it?');
    await tray.until('a question holds too', (status) => findPersona(status, 'ada')?.gates.length === 2);
  });

  test('another hive first: its personas have none of it, and who asks by such a name is that one', async () => {
    using home = trayHome({ primary: { is: 'kijito', base: 'http://127.0.0.1:1' } });
    await using tray = await home.start();
    await ran(home, 'inbox', 'push', '--to', 'ada', '--source', 'ci', 'x');
    await ran(home, 'decision', 'create', '--as', 'ada', '--option', 'y=Yes', 'Ship it?');
    const status = await tray.until(
      'both are there',
      (s) => s.decisions.length === 1 && findPersona(s, 'local-ada') !== undefined,
    );
    assert.equal(status.decisions[0]?.persona, 'local-ada');
    await tray.until('counted', (s) => String(findPersona(s, 'local-ada')?.pending) === '0,0,1,0,0');
  });
});
