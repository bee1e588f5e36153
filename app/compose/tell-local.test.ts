import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBoard, type Fact, type OpenGate } from '../../core/board/index.ts';
import { openLocalHive } from '../../core/inbox/index.ts';
import { Fault } from '../../core/model/index.ts';
import type { Log } from '../../core/ports/index.ts';
import { openDatabase } from '../../core/state/index.ts';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import { newItem } from '../../test/kit/new-item.ts';
import { tellLocal } from './tell-local.ts';

function rig() {
  const clock = fakeClock();
  const warned: string[] = [];
  const log: Log = {
    info: () => {},
    warn: (text) => void warned.push(text),
    error: (text) => void warned.push(text),
  };
  const db = openDatabase(':memory:');
  const local = openLocalHive({ db, clock, log, contentChars: 0 });
  const board = createBoard();
  const facts: Fact[] = [];
  board.facts((fact) => void facts.push(fact));
  const gates = new Map<string, readonly OpenGate[]>();
  const broken = { is: false };
  const teller = tellLocal(
    {
      db,
      local,
      decisions: { list: () => [] },
      gates: () => {
        if (broken.is) throw new Fault('unreadable', 'gates', { is: 'machine', key: 'gates' });
        return new Map(gates);
      },
      idOf: (name) => `local-${name}`,
      board,
    },
    { clock, log },
  );
  const joins = (name: string): void =>
    board.put({
      is: 'joined',
      at: 0,
      persona: `local-${name}`,
      source: 'local',
      address: name,
      label: name,
      stem: name,
      eventsFile: null,
      lastEventId: null,
      staleAfterMs: 1,
    });
  const told = () => facts.flatMap((fact) => (fact.is === 'local' ? [[fact.persona, ...fact.local.pending]] : []));
  return { clock, local, board, facts, teller, joins, told, gates, broken, warned };
}

test('a storm of mail is one picture, and mail that came before its persona joined is not missed', async () => {
  const { clock, local, teller, joins, told, board } = rig();
  using _ = teller;
  for (let i = 0; i < 50; i += 1) local.items.push([newItem({ dedupKey: `${i}` })]);
  await clock.advance(100);
  assert.deepEqual(told(), [['local-ada', 0, 0, 50, 0, 0]]);
  joins('ada');
  await clock.advance(100);
  assert.deepEqual(board.snapshot().personas[0]?.local?.pending, [0, 0, 50, 0, 0]);
  teller.look();
  await clock.advance(100);
  assert.equal(told().length, 2, 'nothing changed, nothing is told');
});

test('gates that are gone are gone from the board', async () => {
  const { clock, teller, joins, gates, board } = rig();
  using _ = teller;
  joins('ada');
  gates.set('ada', [{ id: 'tests', hook: 'Stop', mode: 'strict', description: 'x' }]);
  teller.look();
  await clock.advance(100);
  assert.equal(board.snapshot().personas[0]?.local?.gates.length, 1);
  gates.clear();
  teller.look();
  await clock.advance(100);
  assert.deepEqual(board.snapshot().personas[0]?.local?.gates, []);
});

test('what can not be looked at is said once, and looked at again when asked; what was known stays', async () => {
  const { clock, teller, joins, gates, broken, warned, board } = rig();
  using _ = teller;
  joins('ada');
  gates.set('ada', [{ id: 'tests', hook: 'Stop', mode: 'strict', description: 'x' }]);
  await clock.advance(100);
  broken.is = true;
  for (let i = 0; i < 3; i += 1) {
    teller.look();
    await clock.advance(100);
  }
  assert.equal(warned.length, 1, String(warned));
  assert.match(String(warned), /gates/);
  assert.equal(board.snapshot().personas[0]?.local?.gates.length, 1);
  broken.is = false;
  gates.clear();
  teller.look();
  await clock.advance(100);
  assert.deepEqual(board.snapshot().personas[0]?.local?.gates, []);
});

test('nothing is told any more when it has ended', async () => {
  const { clock, local, teller, facts } = rig();
  teller[Symbol.dispose]();
  local.items.push([newItem({})]);
  await clock.advance(1000);
  assert.deepEqual([facts, clock.waiting], [[], 0]);
});
