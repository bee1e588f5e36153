import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBoard, type Fact, type OpenGate } from '../../core/board/index.ts';
import { openLocalHive } from '../../core/inbox/index.ts';
import { Fault } from '../../core/model/index.ts';
import type { Log } from '../../core/ports/index.ts';
import { supervise } from '../../core/services/index.ts';
import { openDatabase } from '../../core/state/index.ts';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import { newItem } from '../../test/kit/new-item.ts';
import { createLocalNumbersService } from './decisions-service.ts';

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
  const numbers = createLocalNumbersService(
    {
      db,
      local,
      decisions: { list: () => [] },
      gates: () => {
        if (broken.is) throw new Fault('unreadable', 'gates', { is: 'machine', key: 'gates' });
        return new Map(gates);
      },
      toPersonaId: (name) => `local-${name}`,
      board,
    },
    { clock },
  );
  const supervisor = supervise({ clock, log, report: () => {} });
  supervisor.add(numbers);
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
  const reported = () =>
    facts.flatMap((fact) => (fact.is === 'reported' ? [[fact.persona, ...(fact.values.pending ?? [])]] : []));
  return { clock, local, board, facts, numbers, supervisor, joins, reported, gates, broken, warned };
}

test('a storm of mail is one snapshot, and mail that came before its persona joined is not missed', async () => {
  const { clock, local, numbers, supervisor, joins, reported, board } = rig();
  await using _ = supervisor;
  for (let i = 0; i < 50; i += 1) local.items.push([newItem({ dedupKey: `${i}` })]);
  await clock.advance(100);
  assert.deepEqual(reported(), [['local-ada', 0, 0, 50, 0, 0]]);
  joins('ada');
  await clock.advance(100);
  assert.deepEqual(board.snapshot().personas[0]?.pending, [0, 0, 50, 0, 0]);
  numbers.wake();
  await clock.advance(100);
  assert.equal(reported().length, 2, 'nothing changed, nothing is told');
});

test('gates that are gone are gone from the board', async () => {
  const { clock, numbers, supervisor, joins, gates, board } = rig();
  await using _ = supervisor;
  joins('ada');
  gates.set('ada', [{ id: 'tests', hook: 'Stop', mode: 'strict', description: 'x' }]);
  numbers.wake();
  await clock.advance(100);
  assert.equal(board.snapshot().personas[0]?.gates.length, 1);
  gates.clear();
  numbers.wake();
  await clock.advance(100);
  assert.deepEqual(board.snapshot().personas[0]?.gates, []);
});

test('given gates that cannot be read, it says so once, keeps what was known, and reads them as soon as it can', async () => {
  const { clock, numbers, supervisor, joins, gates, broken, warned, board } = rig();
  await using _ = supervisor;
  joins('ada');
  gates.set('ada', [{ id: 'tests', hook: 'Stop', mode: 'strict', description: 'x' }]);
  await clock.advance(100);
  broken.is = true;
  for (let i = 0; i < 3; i += 1) {
    numbers.wake();
    await clock.advance(100);
  }
  assert.equal(warned.length, 1, String(warned));
  assert.match(String(warned), /gates/);
  assert.equal(board.snapshot().personas[0]?.gates.length, 1);
  broken.is = false;
  gates.clear();
  numbers.wake();
  await clock.advance(8000);
  assert.deepEqual(board.snapshot().personas[0]?.gates, []);
});

test('given mail that came between a failure and the next start, it counts it', async () => {
  const { clock, local, numbers, supervisor, joins, broken, board } = rig();
  await using _ = supervisor;
  joins('ada');
  await clock.advance(100);
  broken.is = true;
  numbers.wake();
  await clock.advance(100);
  local.items.push([newItem({})]);
  broken.is = false;
  await clock.advance(8000);
  assert.deepEqual(board.snapshot().personas[0]?.pending, [0, 0, 1, 0, 0]);
});

test('stopped, it reports nothing more', async () => {
  const { clock, local, supervisor, facts } = rig();
  await supervisor[Symbol.asyncDispose]();
  local.items.push([newItem({})]);
  await clock.advance(1000);
  assert.deepEqual([facts, clock.waiting], [[], 0]);
});
