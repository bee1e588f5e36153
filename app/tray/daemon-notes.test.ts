import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { DaemonView } from '../../core/board/index.ts';
import { type AgentState, exactly } from '../../core/model/index.ts';
import { MINUTE, NOW, persona, snapshot, text, trayModel } from '../../test/kit/menu-samples.ts';

const DAEMON: DaemonView = {
  ...{ surface: 'claude-code', project: 'lab', fsm: 'CONNECTED', taxonomy: 'sleeping', isDegraded: false },
  ...{ drainedAt: NOW - 12 * MINUTE, lastError: null },
};
const STALLED: AgentState = { is: 'stalled', why: 'drain-stalled' };

function createMenu(agentState: AgentState, daemon: DaemonView | null = DAEMON, hidden = false) {
  const ada = { ...persona('ada', { unread: exactly(3), hidden }), agentState, daemon };
  const model = trayModel(snapshot([ada, persona('bo')]));
  const rows = text(model.menu);
  const at = rows.findIndex((row) => row.startsWith('ada - '));
  return { model, row: rows[at], notes: rows.slice(at + 1, at + 5).map((row) => row.trim()) };
}

describe('a persona daemon in the menu', () => {
  test('stalled, it says so in its row and in the summary, and the icon keeps its states', () => {
    const { model, row, notes } = createMenu(STALLED);
    assert.equal(row, 'ada - 3 unread · Nobody takes its mail');
    assert.equal(model.summary, '3 unread, 1 whose mail nobody takes');
    assert.equal(model.icon.state, 'up');
    assert.deepEqual(notes.slice(0, 3), [
      'Daemon: drain stalled',
      'CONNECTED, sleeping, in claude-code',
      'Nothing fetched since +-12 min',
    ]);
  });

  test('live, only what it does; its last error is named by its class', () => {
    const { model, row, notes } = createMenu({ is: 'live' }, { ...DAEMON, lastError: 'ws_stream_stalled' });
    assert.equal(row, 'ada - 3 unread');
    assert.equal(model.summary, '3 unread');
    assert.deepEqual([notes[0], notes[2]], ['CONNECTED, sleeping, in claude-code', 'Last error: ws_stream_stalled']);
  });

  test('with nothing to fetch it is not said since when nothing was', () => {
    const ada = { ...persona('ada'), agentState: { is: 'live' } as const, daemon: DAEMON };
    assert.ok(!text(trayModel(snapshot([ada])).menu).some((row) => row.includes('fetched')));
  });

  test('hidden, it is in no summary; of no daemon nothing is said', () => {
    assert.equal(createMenu(STALLED, DAEMON, true).model.summary, 'No unread messages');
    assert.ok(!createMenu({ is: 'live' }, null).notes.some((note) => /CONNECTED|fetched/.test(note)));
  });
});
