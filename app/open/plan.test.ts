import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Fault } from '../../core/model/index.ts';
import { choosePlan, type OpenerSetting } from './placeholders.ts';
import type { ProcessLiveness } from './process-liveness.node.ts';
import type { Session } from './session.ts';

const PANE = { socket: '/tmp/tmux-0/default', serverPid: 7, pane: '%3' };
const RESUME = ['claude', '--resume', 'x'];

/** A session that is named by its life: `findLiveness` below reads it back. */
function session(life: ProcessLiveness, more: Partial<Session> = {}): Session {
  const runner = { pid: 1, startKey: life };
  return {
    persona: 'ada',
    id: null,
    cwd: '/w',
    pane: null,
    runner,
    resume: null,
    announcedAt: 0,
    endedAt: null,
    ...more,
  };
}
const findLiveness = ({ runner }: Session): ProcessLiveness => runner.startKey as ProcessLiveness;

const AUTO = { is: 'auto' } as const;
const TERMINAL = { is: 'terminal' } as const;
const chooseSteps = (sessions: readonly Session[], setting: OpenerSetting): string[] =>
  choosePlan(sessions, setting, findLiveness).steps.map((step) =>
    step.is === 'terminal' && step.resume !== null ? 'resume' : step.is,
  );

describe('what a click does', () => {
  const live = session('live');
  const liveInPane = session('live', { pane: PANE, resume: RESUME });
  const gone = session('gone', { resume: RESUME });
  const goneInPane = session('gone', { pane: PANE, resume: RESUME });
  const ended = session('live', { resume: RESUME, endedAt: 5 });
  const refusal = new Fault('source-opens', 'x may not run', { is: 'source', key: 'x' });
  const refused = session('gone', { refusal });
  const table: readonly (readonly [string, OpenerSetting, readonly Session[], readonly string[]])[] = [
    ['nobody announced a session: the page', AUTO, [], ['page']],
    [
      'it lives in a pane: the pane, else a terminal that shows the pane',
      AUTO,
      [liveInPane],
      ['tmux', 'attach', 'page'],
    ],
    ['it lives, nobody knows where: the page', AUTO, [live], ['page']],
    ['it lives and could be resumed: never a second agent', AUTO, [session('live', { resume: RESUME })], ['page']],
    ['it may live: never a second agent', AUTO, [session('unknown', { resume: RESUME })], ['page']],
    ['it may live, in a pane', AUTO, [session('unknown', { pane: PANE })], ['tmux', 'attach', 'page']],
    ['it is gone: resumed', AUTO, [gone], ['resume', 'page']],
    ['it is gone and left a pane: resumed', AUTO, [goneInPane], ['resume', 'page']],
    ['it is gone for good and left a pane', AUTO, [session('gone', { pane: PANE })], ['tmux', 'attach', 'page']],
    ['it is gone for good', AUTO, [session('gone')], ['page']],
    ['it said that it is over, though its process stays', AUTO, [ended], ['resume', 'page']],
    ['an older one lives', AUTO, [gone, liveInPane], ['tmux', 'attach', 'page']],
    ['one lives, a newer one may', AUTO, [session('unknown'), liveInPane], ['tmux', 'attach', 'page']],
    ['all are gone: the newest', AUTO, [session('gone'), gone], ['page']],
    ['what belongs to it may not be run', AUTO, [refused], ['refuse']],
    ['it may not be run in a terminal either', TERMINAL, [refused], ['refuse']],
    ['who wants the page has it', { is: 'page' }, [refused], ['page']],
    ['page', { is: 'page' }, [liveInPane], ['page']],
    ['command', { is: 'command', argv: ['x'] }, [liveInPane], ['command']],
    ['url', { is: 'url', template: 'https:x' }, [], ['url']],
    ['terminal, without a session: the page', TERMINAL, [], ['page']],
    ['terminal, gone: resumed', TERMINAL, [gone], ['resume']],
    ['terminal, it lives: a shell beside it', TERMINAL, [session('live', { resume: RESUME })], ['terminal']],
    ['terminal, it lives in a pane: the pane', TERMINAL, [liveInPane], ['attach']],
  ];
  for (const [label, setting, sessions, steps] of table) {
    test(label, () => assert.deepEqual(chooseSteps(sessions, setting), steps));
  }

  test('of several that live it is the newest', () => {
    const older = session('live', { id: 'older' });
    assert.equal(
      choosePlan([session('gone', { id: 'gone' }), session('live', { id: 'newer' }), older], AUTO, findLiveness).session
        ?.id,
      'newer',
    );
  });

  test('a session that is over is not asked whether it lives', () => {
    assert.equal(choosePlan([ended], AUTO, () => assert.fail()).session, ended);
  });

  test('the terminal of the settings is the one that is opened', () => {
    const argv = ['kitty', '--hold'];
    const [step] = choosePlan([gone], { is: 'terminal', argv }, findLiveness).steps;
    assert.deepEqual(step, { is: 'terminal', resume: RESUME, terminal: argv });
  });
});
