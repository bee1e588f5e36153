import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NOTHING_REPORTED, pickReport } from '../../core/board/index.ts';
import { commandLine } from '../../test/kit/command-line.ts';
import { scratch } from '../../test/kit/scratch.ts';
import type { StatusWire } from '../status/index.ts';
import { formatStatusLine } from './statusline.ts';

const SESSION = { id: '1b2c3d4e-0000-4000-8000-000000000000', folders: ['/p', undefined] };

type Persona = StatusWire['personas'][number];

function createPersona(id: string, over: Partial<Persona> = {}): Persona {
  const reported = pickReport(NOTHING_REPORTED);
  const base = { id, label: id, state: 'UP', agent: 'idle', cwd: '/p', unread: 2, unreadIs: 'exact', urgent: 0 };
  return { ...base, ...reported, ...over } as Persona;
}

function createStatus(personas: readonly Persona[], decisions: readonly string[] = []): StatusWire {
  const totals = { unread: 7, unreadIs: 'exact', urgent: 1 };
  return { totals, personas, decisions: decisions.map((persona) => ({ persona })) } as unknown as StatusWire;
}

const format = (status: StatusWire, name = '', session = SESSION): string => formatStatusLine(status, session, name);

test('the line has the persona of the session, its unread and urgent mail, and its questions', () => {
  const ada = createPersona('ada');
  assert.equal(format(createStatus([ada])), 'ada: 2 unread');
  const busy = createPersona('ada', { urgent: 1, questions: 1 });
  assert.equal(format(createStatus([busy], ['ada', 'bo'])), 'ada: 2 unread, 1 urgent, 2 questions for you');
  assert.equal(format(createStatus([createPersona('ada', { unread: null, unreadIs: 'unknown' })])), 'ada: ? unread');
  assert.equal(format(createStatus([createPersona('ada', { state: 'DOWN' })])), 'ada: inbox down');
  assert.equal(format(createStatus([createPersona('ada', { label: 'a\u001b[2Jda' })])).includes('\u001b'), false);
});

test('the persona is that of HIVEBAR_PERSONA, else of the folder, else of the row of the session, else the line has the sums', () => {
  const [ada, bo] = [createPersona('ada'), createPersona('bo', { unread: 3 })];
  assert.equal(format(createStatus([ada, bo]), 'bo'), 'bo: 3 unread');
  assert.equal(format(createStatus([ada, createPersona('x-bo', { label: 'bo', unread: 4 })]), 'bo'), 'bo: 4 unread');
  const sums = 'hivebar: 7 unread, 1 urgent';
  assert.equal(format(createStatus([ada]), 'cy'), sums);
  assert.equal(format(createStatus([ada, bo])), sums, 'two work there');
  assert.equal(format(createStatus([createPersona('ada', { cwd: '/q' })], ['ada'])), `${sums}, 1 question for you`);
  assert.equal(format(createStatus([ada, createPersona('bo', { agent: 'gone' })])), 'ada: 2 unread');
  assert.equal(format(createStatus([ada, createPersona('x-1b2c3d4e', { unread: 5 })])), 'x-1b2c3d4e: 5 unread');
  assert.equal(format(createStatus([ada, bo]), '', { id: '', folders: [] }), sums);
});

test('while Hivebar does not run the line is empty, and the command a success', async () => {
  using home = scratch();
  const ran = await commandLine(['statusline'], { HIVEBAR_HOME: home.dir }, '{"session_id":"s"}');
  assert.deepEqual(ran, { code: 0, out: '', err: '' });
});
