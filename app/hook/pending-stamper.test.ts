import assert from 'node:assert/strict';
import { mkdirSync, statSync } from 'node:fs';
import { test } from 'node:test';
import { openDecisions, parseNewDecision } from '../../core/inbox/decisions/index.ts';
import {
  BUILT_INS,
  createGatesForDecisions,
  type Gate,
  NO_OPEN_DECISIONS,
  openGates,
} from '../../core/inbox/gates/index.ts';
import { type NewItem, openItems, openLocalHive } from '../../core/inbox/index.ts';
import { realClock, realRandom, silentLog } from '../../core/ports/index.ts';
import { createRealDisk, openDatabase, toStem } from '../../core/state/index.ts';
import { configIn } from '../../test/kit/daemon-link.ts';
import { scratch } from '../../test/kit/scratch.ts';
import { openSessionStore } from '../open/index.ts';
import { createElsewhereCheck } from './daemon-hooks.ts';
import { createPendingStamper } from './pending-stamper.ts';

function rig(config: object = { primary: { is: 'local' } }) {
  const state = scratch();
  for (const dir of ['run', 'config']) mkdirSync(state.at(dir), { mode: 0o700 });
  state.write('config/config.json', JSON.stringify(config));
  const db = openDatabase(state.at('hivebar.sqlite'));
  const items = openItems({ db, clock: realClock });
  const dirs = { state: state.dir, run: state.at('run'), config: state.at('config') };
  const needs = { db, dirs, disk: createRealDisk(silentLog), clock: realClock, random: realRandom };
  const stamp = createPendingStamper({
    ...needs,
    isElsewhere: (...persona) => createElsewhereCheck(needs.disk, dirs.state)(...persona),
  });
  return {
    state,
    db,
    items,
    sessions: openSessionStore(db),
    /** The moments that are quiet, once it was looked; null: no stamp. */
    quiet(persona: string): readonly string[] | null {
      stamp(persona);
      const line = /\nquiet (.*)\n/.exec(state.text(`run/pending/${toStem(persona)}`))?.[1];
      return line === undefined ? null : line.split(' ');
    },
    text: (persona: string) => state.text(`run/pending/${toStem(persona)}`),
    push(more: Partial<NewItem>) {
      const to = { is: 'persona', name: 'ada' } as const;
      const item = { to, type: 'event', source: 'x', content: 'y', priority: 1, session: null } as const;
      items.push([{ ...item, created: realClock.now(), expires: null, dedupKey: null, ...more }]);
    },
    [Symbol.dispose]() {
      db[Symbol.dispose]();
      state[Symbol.dispose]();
    },
  };
}

/** The gates and decisions that commands work on, with the soft gates of a Stop out of the way for ada. */
function asking({ state, db, items }: ReturnType<typeof rig>) {
  const disk = createRealDisk(silentLog);
  const git = async () => ({ is: 'clear' }) as const;
  const needs = { disk, random: realRandom, clock: realClock, state: state.dir, items: null, git };
  const gates = openGates({ ...needs, findOpenDecisions: NO_OPEN_DECISIONS });
  for (const gate of BUILT_INS)
    if (gate.hook === 'Stop' && gate.mode === 'soft') gates.register('ada', { ...gate, hook: 'PreCompact' });
  const plain = { wake: () => {}, emit: () => {}, clock: realClock, log: silentLog };
  return { gates, decisions: openDecisions({ db, items, gates: createGatesForDecisions(gates), ...plain }) };
}

const isTool = (moments: readonly string[] | null): boolean => moments?.includes('PostToolUse') === true;

test('what is pushed, sent or broadcast removes the stamp, and no look brings it back while it waits', async () => {
  using r = rig();
  using hive = openLocalHive({ db: r.db, clock: realClock, log: silentLog, contentChars: null });
  const sends: readonly (() => unknown)[] = [
    () => r.push({}),
    () => r.push({ to: { is: 'everyone' } }),
    () => hive.sendNow({ to: 'ada', from: 'bob', content: 'x', urgent: true }),
    () => hive.send({ to: 'ada', from: 'bob', content: 'x', urgent: true }),
  ];
  for (const send of sends) {
    assert.ok(isTool(r.quiet('ada')));
    await send();
    assert.equal(r.text('ada'), '');
    assert.ok(!isTool(r.quiet('ada')));
    hive.markRead('ada', 'all');
  }
  assert.ok(isTool(r.quiet('ada')));
});

test('of a persona whose daemon listens elsewhere no boundary is passed over, however it is called', () => {
  using r = rig();
  const turnBoundaries = (persona: string) =>
    r.quiet(persona)?.filter((event) => event === 'Stop' || event === 'UserPromptSubmit');
  configIn(r.state.dir, { address: 'eve' });
  assert.deepEqual(turnBoundaries('eve'), ['UserPromptSubmit']); // the gates of a new persona have something to say at a Stop
  configIn(r.state.dir, { address: 'eve', upstream: 'https://upstream.example' });
  for (const persona of ['eve', 'local-eve', 'daemon-acme-ada']) assert.deepEqual(turnBoundaries(persona), []);
  assert.deepEqual(turnBoundaries('ada'), ['UserPromptSubmit']);
});

test('a push for one persona leaves the stamps of others', () => {
  using r = rig();
  r.quiet('ada');
  r.quiet('bob');
  r.push({});
  assert.equal(r.text('ada'), '');
  assert.notEqual(r.text('bob'), '');
});

test('what somebody holds a lease of, and what is for one session, is not passed over', () => {
  using r = rig();
  r.push({ session: 's9' });
  assert.ok(!isTool(r.quiet('ada')));
  const lease = r.items.lease({ persona: 'ada', session: 's9', upTo: 4, most: 20, forMs: 60_000 });
  assert.equal(lease.items.length, 1);
  assert.ok(!isTool(r.quiet('ada')));
  r.items.markDelivered(lease, [lease.items[0]?.id ?? 0]);
  assert.ok(isTool(r.quiet('ada')));
});

test('what expired and what is not urgent is passed over by a tool', () => {
  using r = rig();
  r.push({ expires: realClock.now() - 1 });
  assert.ok(isTool(r.quiet('ada')));
  r.push({ priority: 2 });
  assert.ok(isTool(r.quiet('ada')));
  assert.ok(!r.quiet('ada')?.includes('UserPromptSubmit'));
});

test('before a tool only a strict gate that was registered is asked about', () => {
  using r = rig();
  assert.ok(r.quiet('ada')?.includes('PreToolUse'));
  mkdirSync(r.state.at('gates/ada'), { recursive: true, mode: 0o700 });
  const gate = { hook: 'PreToolUse', mode: 'strict', description: 'x' };
  r.state.write('gates/ada/own.json', JSON.stringify(gate));
  assert.ok(!r.quiet('ada')?.includes('PreToolUse'));
});

test('a broadcast is not passed over by a persona that nobody has heard of yet', () => {
  using r = rig();
  r.push({ to: { is: 'everyone' } });
  assert.ok(!isTool(r.quiet('eve')));
});

test('inbox-gates 8.10b: folders of sessions that are over are looked at too, so no line is stranded there unseen', () => {
  using r = rig();
  const session = (id: string, cwd: string) =>
    r.sessions.set({ persona: 'ada', id, cwd, pane: null, runner: { pid: 1, startKey: null }, resume: null }, 1);
  session('old', '/w/old');
  r.sessions.end('ada', 'old', 2);
  session('new', '/w/new');
  r.quiet('ada');
  assert.deepEqual(
    r
      .text('ada')
      .match(/^folder .*$/gm)
      ?.sort(),
    ['folder /w/new', 'folder /w/old'],
  );
});

test('given another primary hive, the persona `local-ada` is who has the mail of ada, and the stamp of both goes', () => {
  using r = rig({ primary: { is: 'kijito' } });
  r.quiet('local-ada');
  r.quiet('ada');
  assert.match(r.text('local-ada'), new RegExp(`\ngates ${r.state.at('gates/ada')}\n`));
  r.push({});
  assert.deepEqual([r.text('local-ada'), r.text('ada')], ['', '']);
  assert.ok(!isTool(r.quiet('local-ada')));
  // Mail of another system is read by each session from a position of its own.
  assert.deepEqual(r.quiet('bob')?.includes('UserPromptSubmit'), false);
});

test('a decision that is asked takes the stamp back, no look calls a Stop quiet while it is open, and then one does', () => {
  using r = rig();
  const { decisions } = asking(r);
  const isStop = (): boolean => r.quiet('ada')?.includes('Stop') === true;
  assert.ok(isStop());
  r.quiet('bob');
  const options = [{ id: 'a', label: 'a' }];
  decisions.create(parseNewDecision({ persona: 'ada', prompt: 'Which way?', options }));
  assert.equal(r.text('ada'), '');
  assert.notEqual(r.text('bob'), '');
  assert.ok(!isStop());
  assert.ok(isTool(r.quiet('ada')), 'other moments stay quiet');
  decisions.cancel(1, 'ada', null);
  assert.ok(isStop());
});

test('a decision gate that was registered is asked about at every Stop, and the stamp of before is older than it', () => {
  using r = rig();
  const { gates } = asking(r);
  const decision = BUILT_INS.find(({ id }) => id === 'decision') as Gate;
  assert.ok(r.quiet('ada')?.includes('Stop'));
  const age = (path: string): number => statSync(r.state.at(path)).mtimeMs;
  const stamped = age('run/pending/ada');
  gates.register('ada', decision);
  assert.ok(age('gates/ada') > stamped);
  assert.equal(r.quiet('ada')?.includes('Stop'), false);
  gates.register('ada', { ...decision, hook: 'PreCompact', mode: 'soft' });
  assert.ok(r.quiet('ada')?.includes('Stop'));
});

test('a Stop is asked about for everybody, since a soft gate looks at git there', () => {
  using r = rig();
  assert.equal(r.quiet('ada')?.includes('Stop'), false);
});
