import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createBoard } from '../../core/board/index.ts';
import { realRandom } from '../../core/ports/index.ts';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import type { PermissionRequest } from '../status/index.ts';
import { createPermissions } from './permissions.ts';

const REQUEST: PermissionRequest = {
  ...{ harness: 'claude', session: 's1', persona: 'ada', subagent: false, cwd: '/work', tool: 'Bash' },
  ...{ text: 'command: npm test', cut: 0 },
};

function rig(isOn = true) {
  const board = createBoard();
  const clock = fakeClock();
  const lines: string[] = [];
  const log = { info: (line: string) => void lines.push(line), warn: () => {}, error: () => {} };
  const permissions = createPermissions(
    { board, isOn: () => isOn, findPersona: (persona) => persona },
    { clock, log, random: realRandom },
  );
  const leaving = new AbortController();
  const ask = (over: Partial<PermissionRequest> = {}) => permissions.ask({ ...REQUEST, ...over }, leaving.signal);
  const only = () => {
    const [permission] = board.snapshot().permissions;
    assert.ok(permission !== undefined);
    return permission;
  };
  return { board, clock, lines, permissions, leaving, ask, only };
}

describe('permission prompts', () => {
  test('given a prompt, when a person answers it, then its hook gets the answer, it leaves, and the log says who, what and when', async () => {
    for (const answer of ['allow', 'deny', 'terminal'] as const) {
      const { ask, only, permissions, lines, board } = rig();
      const asked = ask();
      assert.deepEqual(permissions.answer(only().id, answer, 'page'), { persona: 'ada', answer });
      assert.equal(await asked, answer);
      assert.deepEqual(board.snapshot().permissions, []);
      assert.match(lines.join(), /^permission 1 of ada \(claude\): .* from the page: Bash: command: npm test$/);
    }
  });

  test('given an id, then it answers one prompt, once, and no other', async () => {
    const { ask, permissions, only, board } = rig();
    const first = ask();
    const { id } = only();
    const second = ask({ text: 'command: rm -rf /' });
    const other = board.snapshot().permissions[1];
    assert.match(id, /^[0-9a-f]{32}$/);
    assert.notEqual(other?.id, id);
    permissions.answer(id, 'deny', 'page');
    assert.equal(await first, 'deny');
    for (const wrong of [id, '', '1', '2', 'x'.repeat(32), id.slice(1)])
      assert.throws(() => permissions.answer(wrong, 'allow', 'page'), /this prompt is over/);
    assert.equal(only().text, 'command: rm -rf /');
    permissions.answer(other?.id ?? '', 'allow', 'menu');
    assert.equal(await second, 'allow');
  });

  test('given a call that was cut, then it can be denied or left to the terminal, and never allowed', async () => {
    const { ask, only, permissions } = rig();
    const asked = ask({ cut: 3 });
    assert.throws(() => permissions.answer(only().id, 'allow', 'page'), /3 characters of this call were not shown/);
    permissions.answer(only().id, 'deny', 'page');
    assert.equal(await asked, 'deny');
  });

  test('given nobody who answers, then the hook goes on without an answer: in time, when it leaves, and when the setting is off', async () => {
    for (const [harness, ms] of [
      ['claude', 590_000],
      ['codex', 8000],
    ] as const) {
      const { ask, clock, board, only, permissions } = rig();
      const asked = ask({ harness });
      const { id, expires } = only();
      assert.equal(expires - clock.now(), ms);
      await clock.advance(ms);
      assert.equal(await asked, null);
      assert.deepEqual([board.snapshot().permissions, clock.waiting], [[], 0]);
      assert.throws(() => permissions.answer(id, 'allow', 'page'), /over/);
    }
    const { ask, leaving, board, clock } = rig();
    const asked = ask();
    leaving.abort();
    assert.equal(await asked, null);
    assert.equal(await ask(), null, 'it left before it was heard');
    assert.deepEqual([board.snapshot().permissions, clock.waiting], [[], 0]);
    assert.equal(await rig(false).ask(), null);
    assert.equal(await rig().ask({ persona: null }), null, 'nobody knows whose session it is');
    assert.equal(await rig().ask({ harness: 'gemini' }), null, 'its program takes no answer');
  });

  test('given more prompts than agents ask, then further ones are left to their terminals', async () => {
    const { ask, board, leaving } = rig();
    const asked = Array.from({ length: 60 }, () => ask());
    assert.equal(board.snapshot().permissions.length, 50);
    leaving.abort();
    assert.deepEqual(new Set(await Promise.all(asked)), new Set([null]));
  });
});
