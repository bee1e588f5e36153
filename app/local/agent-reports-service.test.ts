import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { createBoard, type Fact } from '../../core/board/index.ts';
import { findHarness, type SessionRunner } from '../../core/hooks/index.ts';
import { Fault } from '../../core/model/index.ts';
import { silentLog } from '../../core/ports/index.ts';
import { supervise } from '../../core/services/index.ts';
import { createRealDisk, openDatabase } from '../../core/state/index.ts';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import { fakeMachine } from '../../test/kit/fake-machine.ts';
import { scratch } from '../../test/kit/scratch.ts';
import { reportSession } from '../hook/index.ts';
import { openSessionStore, readStartKey } from '../open/index.ts';
import { createAgentReportsService } from './agent-reports-service.ts';

const DAY = 86_400_000;
const SWEEP = 10_000;
const LIVE: SessionRunner = { pid: process.pid, startKey: readStartKey(process.pid, process.platform), lock: null };
const DEAD: SessionRunner = { pid: spawnSync(process.execPath, ['-e', '0']).pid, startKey: 'boot:1', lock: null };
const claude = findHarness('claude', null);

function createRig() {
  const space = scratch();
  mkdirSync(space.at('config'));
  space.write('config/config.json', '{"primary":{"is":"local"}}');
  const clock = fakeClock();
  const db = openDatabase(':memory:');
  const sessions = openSessionStore(db);
  const board = createBoard();
  const facts: Fact[] = [];
  board.facts((fact) => void facts.push(fact));
  const owners = new Map<string, string>();
  const dirs = { state: space.dir, run: space.at('run'), config: space.at('config') };
  const machine = fakeMachine({
    clock,
    disk: createRealDisk(silentLog),
    log: silentLog,
    stop: new AbortController().signal,
  });
  const create = () =>
    createAgentReportsService({ db, dirs, board, findSessionOwner: (id) => owners.get(id) ?? null }, machine);
  let supervisor = supervise({ clock, log: silentLog, report: (_, fault) => assert.equal(fault, null) });
  supervisor.add(create());
  return {
    ...{ clock, owners, dirs },
    join: (persona: string): void =>
      board.put({
        ...{ is: 'joined', at: clock.now(), persona, source: 'local', address: persona, label: persona, stem: persona },
        ...{ eventsFile: null, lastEventId: null, staleAfterMs: 1 },
      }),
    hook(
      session: string,
      event: string,
      persona: string | null = 'ada',
      runner: SessionRunner = LIVE,
      given = {},
    ): void {
      const stdin = JSON.stringify({ session_id: session, cwd: '/w', hook_event_name: event, ...given });
      const turn = claude?.readTurn(stdin, event);
      if (turn === undefined || turn instanceof Fault) throw turn;
      reportSession(dirs.run, turn, { harness: 'claude', persona, findRunner: () => runner }, clock.now());
    },
    announce: (persona: string, id: string, runner: SessionRunner = LIVE): void =>
      sessions.set({ persona, id, cwd: '/announced', pane: null, runner, resume: null }, clock.now()),
    end: (persona: string, id: string): void => void sessions.end(persona, id, clock.now()),
    sweep: async (): Promise<void> => await clock.advance(SWEEP),
    async restart(): Promise<void> {
      await supervisor[Symbol.asyncDispose]();
      supervisor = supervise({ clock, log: silentLog, report: () => {} });
      supervisor.add(create());
      await clock.advance(100);
    },
    /** What the board shows: the state, why, and how long ago it began. */
    shows(persona: string): string {
      const state = board.snapshot().personas.find(({ id }) => id === persona)?.agentState;
      const since = state?.since === undefined ? '' : ` ${clock.now() - state.since}`;
      return `${state?.is}${state?.why === undefined ? '' : ` ${state.why}`}${since}${state?.cwd === undefined ? '' : ` ${state.cwd}`}`;
    },
    count: () => facts.filter(({ is }) => is === 'agent').length,
    async [Symbol.asyncDispose]() {
      await supervisor[Symbol.asyncDispose]();
      space[Symbol.dispose]();
    },
  };
}

test('a report is on the board, also when its persona joins later, and the same again is no news', async () => {
  await using rig = createRig();
  rig.hook('s1', 'PermissionRequest', 'ada', LIVE, { tool_name: 'Bash' });
  await rig.sweep();
  rig.join('ada');
  assert.equal(rig.shows('ada'), `waiting permission ${SWEEP} /w`);
  const before = rig.count();
  await rig.sweep();
  assert.equal(rig.count(), before);
  rig.hook('s1', 'Stop');
  await rig.sweep();
  assert.equal(rig.shows('ada'), `idle ${SWEEP} /w`);
});

test('after a restart the report is read again, with its beginning; of a dead process only that it is gone', async () => {
  await using rig = createRig();
  rig.join('ada');
  rig.join('bo');
  rig.hook('s1', 'UserPromptSubmit', 'ada');
  rig.hook('s2', 'UserPromptSubmit', 'bo', DEAD);
  await rig.sweep();
  await rig.restart();
  assert.equal(rig.shows('ada'), `working ${SWEEP + 100} /w`);
  assert.equal(rig.shows('bo'), 'gone process-ended /w');
});

test('whose session it is: the persona of the hook, else the one that announced it, else the one of a source', async () => {
  await using rig = createRig();
  for (const persona of ['ada', 'bo', 'garden-x']) rig.join(persona);
  rig.announce('bo', 's2');
  rig.owners.set('s3', 'garden-x');
  rig.hook('s1', 'UserPromptSubmit', 'local-ada'); // its id where another hive is the primary one
  for (const session of ['s2', 's3', 's4']) rig.hook(session, 'UserPromptSubmit', null);
  await rig.sweep();
  for (const persona of ['ada', 'bo', 'garden-x']) assert.match(rig.shows(persona), /^working \d+ \/w$/, persona);
});

test('a session that was announced and has no hooks lives or is gone; one that ended is gone for a week', async () => {
  await using rig = createRig();
  for (const persona of ['ada', 'bo', 'cy', 'di']) rig.join(persona);
  rig.announce('ada', 's1');
  rig.announce('bo', 's2', DEAD);
  rig.announce('cy', 's3');
  rig.end('cy', 's3');
  await rig.sweep();
  assert.deepEqual(['ada', 'bo', 'cy', 'di'].map(rig.shows), [
    'live /announced',
    'gone process-ended /announced',
    `gone session-ended ${SWEEP} /announced`,
    'unknown not-reported',
  ]);
  rig.announce('bo', 's2b');
  await rig.sweep();
  assert.equal(rig.shows('bo'), 'live /announced', 'another session lives');
  rig.clock.setBy(8 * DAY);
  await rig.sweep();
  assert.equal(rig.shows('cy'), 'unknown not-reported');
});

test('a question of one session is not hidden by the work of another, and files of ended sessions go after a week', async () => {
  await using rig = createRig();
  rig.join('ada');
  rig.hook('s1', 'PermissionRequest', 'ada', LIVE, { tool_name: 'Bash' });
  await rig.sweep();
  rig.hook('s2', 'UserPromptSubmit');
  await rig.sweep();
  assert.match(rig.shows('ada'), /^waiting permission/);
  rig.hook('s1', 'SessionEnd');
  await rig.sweep();
  assert.match(rig.shows('ada'), /^working/);
  rig.clock.setBy(8 * DAY);
  await rig.sweep();
  assert.deepEqual(readdirSync(`${rig.dirs.run}/agents`), ['s2.json']);
});
