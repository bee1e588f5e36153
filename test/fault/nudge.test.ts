import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createNudger, noteActivity } from '../../app/hook/index.ts';
import { openSessionStore, type Pane } from '../../app/open/index.ts';
import { programOnPath } from '../../app/programs.node.ts';
import { TYPED_WORDS } from '../../core/hooks/index.ts';
import { openItems } from '../../core/inbox/index.ts';
import { type Clock, realClock, realSpawn, silentLog } from '../../core/ports/index.ts';
import { createRealDisk, openDatabase } from '../../core/state/index.ts';
import { type ComposerPane, composerPane, type PaneScreen } from '../kit/composer-pane.ts';
import { needs } from '../kit/require.ts';
import { scratch } from '../kit/scratch.ts';
import { until } from '../kit/until.ts';

const NO_TMUX =
  programOnPath('tmux', process.env, process.platform) === null ? 'tmux is missing: apt-get install tmux' : null;
const SESSION = 's1';
const SEED = 20261129;
const STATES = 1000;

/** A state of a pane, and whether words may be typed in it. */
interface State {
  readonly name: string;
  readonly shown: PaneScreen;
  readonly place: 'own pane' | 'copy mode' | 'clock of tmux' | 'all panes' | 'another program';
  readonly expects: 'typed' | 'taken back' | 'left' | 'nothing';
}

const EMPTY: PaneScreen = { view: 'composer', text: '', at: 0, status: 'idle' };
const draft = fc.stringMatching(/^[a-z](?:[a-z ]{0,20}[a-z])?$/);
const own = (name: string, shown: fc.Arbitrary<PaneScreen>, expects: State['expects']): fc.Arbitrary<State> =>
  fc.record({ name: fc.constant(name), shown, place: fc.constant('own pane' as const), expects: fc.constant(expects) });
const placed = (name: string, place: State['place']): fc.Arbitrary<State> =>
  fc.constant({ name, shown: EMPTY, place, expects: 'nothing' });

const states: fc.Arbitrary<State> = fc.oneof(
  { weight: 3, arbitrary: own('empty prompt', fc.constant(EMPTY), 'typed') },
  {
    weight: 3,
    arbitrary: own(
      'draft',
      draft.chain((text) => fc.nat(text.length).map((at) => ({ ...EMPTY, text, at }))),
      'nothing',
    ),
  },
  { weight: 2, arbitrary: own('menu', fc.constant({ ...EMPTY, view: 'menu', status: 'waiting' }), 'nothing') },
  { weight: 2, arbitrary: own('menu of one that says it is idle', fc.constant({ ...EMPTY, view: 'menu' }), 'nothing') },
  {
    weight: 2,
    arbitrary: own(
      'no idle agent',
      fc.constantFrom('busy', 'waiting', 'shell').map((status) => ({ ...EMPTY, status })),
      'nothing',
    ),
  },
  {
    weight: 2,
    arbitrary: own(
      'another screen',
      draft.map((text) => ({ ...EMPTY, view: 'program', text })),
      'nothing',
    ),
  },
  { weight: 1, arbitrary: own('menu at that moment', fc.constant({ ...EMPTY, next: { view: 'menu' } }), 'left') },
  {
    weight: 1,
    arbitrary: own(
      'a person writes at that moment',
      draft.map((text) => ({ ...EMPTY, next: { text, at: text.length } })),
      'left',
    ),
  },
  {
    weight: 1,
    arbitrary: own('at work at that moment', fc.constant({ ...EMPTY, next: { status: 'busy' } }), 'taken back'),
  },
  { weight: 2, arbitrary: placed('copy mode', 'copy mode') },
  { weight: 1, arbitrary: placed('clock of tmux', 'clock of tmux') },
  { weight: 1, arbitrary: placed('all panes', 'all panes') },
  { weight: 2, arbitrary: placed('running program', 'another program') },
);

function rig(tmux: ComposerPane, space: ReturnType<typeof scratch>) {
  const db = openDatabase(space.at('hivebar.sqlite'));
  const items = openItems({ db, clock: realClock });
  const dirs = { state: space.dir, run: space.at('run'), config: space.at('config') };
  const clock: Clock = { ...realClock, sleep: (ms, signal) => realClock.sleep(ms / 10, signal) };
  const nudger = createNudger({
    ...{
      db,
      items,
      dirs,
      disk: createRealDisk(silentLog),
      clock,
      env: process.env,
      os: process.platform,
      spawn: realSpawn,
    },
    ...{ stop: AbortSignal.any([]), ways: { tmux: true, codexQueue: true, socket: false } },
  });
  const sessions = openSessionStore(db);
  const at = (pane: Pane): void => {
    const harness = { name: 'claude', home: space.dir };
    sessions.set(
      { persona: 'ada', id: SESSION, cwd: '/', pane, runner: tmux.runner, resume: null, harness },
      Date.now(),
    );
  };
  const push = (): void => {
    const more = { session: null, created: Date.now(), expires: null, dedupKey: null } as const;
    items.push([
      { to: { is: 'persona', name: 'ada' }, type: 'event', source: 'x', content: 'x', priority: 2, ...more },
    ]);
  };
  return { db, nudger, at, push, rests: () => noteActivity(dirs.run, 'ada', 'Stop') };
}

test(`C2 in ${STATES} states of a pane words are typed into an empty prompt of an idle agent and nowhere else`, async (t) => {
  if (needs(t, NO_TMUX)) return;
  using space = scratch();
  await using tmux = await composerPane(space, SESSION);
  const r = rig(tmux, space);
  using _ = r.db;
  // A program of the same user in another pane, over what looks like an empty prompt.
  tmux.ask(
    'split-window',
    '-d',
    '-t',
    tmux.pane.pane,
    '-l',
    '8',
    `printf '${'─'.repeat(100)}\\n❯ \\n${'─'.repeat(100)}\\033[1A\\033[98D'; exec cat`,
  );
  const other = { ...tmux.pane, pane: tmux.ask('list-panes', '-F', '#{pane_id}').trim().split('\n')[1] ?? '' };
  const seen = new Map<string, number>();
  let checkKeys = (): void => {};
  let isAtOther = false;
  r.at(tmux.pane);
  r.rests();
  r.push();
  for (const [n, state] of fc.sample(states, { numRuns: STATES, seed: SEED }).entries()) {
    const label = `${n} ${state.name} ${JSON.stringify(state.shown)}`;
    await tmux.show(state.shown);
    checkKeys(); // by now whatever was pressed in the state before has come
    tmux.did.length = 0;
    const { pane } = tmux.pane;
    if (state.place === 'copy mode') tmux.ask('copy-mode', '-t', pane);
    if (state.place === 'clock of tmux') tmux.ask('clock-mode', '-t', pane);
    if (state.place === 'all panes') tmux.ask('set-option', '-w', '-t', pane, 'synchronize-panes', 'on');
    if ((state.place === 'another program') !== isAtOther) {
      isAtOther = !isAtOther;
      r.at(isAtOther ? other : tmux.pane);
    }
    const done = await r.nudger.nudgeIfDue('ada').then(
      (nudging) => nudging,
      (error: unknown) =>
        error instanceof Error && error.message.includes('was typed but not sent')
          ? ({ is: 'left' } as const)
          : Promise.reject(error),
    );
    if (state.place === 'copy mode' || state.place === 'clock of tmux') tmux.ask('copy-mode', '-q', '-t', pane);
    if (state.place === 'all panes') tmux.ask('set-option', '-w', '-t', pane, 'synchronize-panes', 'off');
    const expected = { typed: 'nudged', left: 'left', 'taken back': 'wait', nothing: 'wait' }[state.expects];
    assert.equal(done.is, expected, `${label} ${JSON.stringify(done)}`);
    if (state.expects === 'typed') await until(`Enter: ${label}`, () => tmux.did.length > 0);
    if (state.expects === 'taken back')
      await until('all of it is gone', () => !/hivebar/.test(tmux.ask('capture-pane', '-p', '-t', pane)));
    if (state.expects === 'nothing')
      assert.doesNotMatch(
        tmux.ask('capture-pane', '-p', '-t', pane, ';', 'capture-pane', '-p', '-t', other.pane),
        /hivebar/,
        label,
      );
    checkKeys = () => assert.deepEqual(tmux.did, state.expects === 'typed' ? [{ sent: TYPED_WORDS }] : [], label);
    seen.set(state.name, (seen.get(state.name) ?? 0) + 1);
    if (expected === 'wait') continue;
    // What was nudged for, or is outstanding, is over: the next state is another moment with something new.
    r.rests();
    r.push();
  }
  await tmux.show(EMPTY);
  checkKeys();
  t.diagnostic(JSON.stringify(Object.fromEntries(seen)));
  assert.equal(seen.size, 13);
});
