import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { recorded } from '../../../test/kit/brainclaw-server.ts';
import { scratch } from '../../../test/kit/scratch.ts';
import { until } from '../../../test/kit/until.ts';
import { Fault } from '../../model/index.ts';
import { realClock, silentLog } from '../../ports/index.ts';
import { type ProjectActionRequest, parseActionParams } from './action-schema.ts';
import { createProjectActionsService } from './open.ts';

const never = new AbortController().signal;
const ACCEPT: ProjectActionRequest = { do: 'accept', item: 'cnd_1', text: null, step: null };

function rig(actions: boolean | undefined, isInstalled = true) {
  const files = scratch();
  const server = recorded(files);
  const stop = new AbortController();
  const acts = createProjectActionsService(
    {
      settings: { brainclaw: { is: 'on', ...(actions === undefined ? {} : { actions }) } },
      clientOptions: { command: () => (isInstalled ? server.command : null), env: {}, principal: 'ada', version: '1' },
      projects: () => [{ id: 'bc-lab', root: files.dir }],
    },
    { clock: realClock, log: silentLog, stop: stop.signal },
  );
  return {
    files,
    server,
    acts,
    async [Symbol.asyncDispose]() {
      await acts[Symbol.asyncDispose]();
      files[Symbol.dispose]();
    },
  };
}

const isFault = (code: string, why: RegExp) => (error: unknown) =>
  error instanceof Fault && error.code === code && why.test(error.message);

describe('acting on the projects that are watched', () => {
  test('unless the settings say so, nothing is done and nobody is asked', async () => {
    for (const actions of [false, undefined]) {
      await using off = rig(actions);
      const refused = isFault('actions-off', /brainclaw\.actions is not switched on .* nothing is done to bc-lab/);
      await assert.rejects(off.acts.act('bc-lab', ACCEPT, never), refused);
      assert.equal(off.acts.createSeed({ root: off.files.dir }), null);
      assert.deepEqual(off.server.noted, []);
    }
  });

  test('who is asked at activation is asked one after the other, and no server stays for it', async () => {
    await using on = rig(true);
    const roots = [on.files.dir, on.files.at('..')];
    const seeds = await Promise.all(roots.map(async (root) => await on.acts.createSeed({ root })?.()));
    assert.deepEqual(
      seeds.map((seed) => seed?.claims),
      [3, 3],
    );
    const order = on.server.noted.map(({ is }) => is).filter((is) => is === 'started' || is === 'called');
    assert.deepEqual(order, ['started', 'called', 'started', 'called']);
    await until('none stays', () => on.server.alive.length === 0);
  });

  test('actions of a project have one server, which is gone afterwards', async () => {
    await using on = rig(true);
    await on.acts.act('bc-lab', ACCEPT, never);
    const done = await on.acts.act('bc-lab', ACCEPT, never);
    assert.deepEqual(done, { accepted: true, tool: 'bclaw_transition', says: '{"ok":true,"id":"cnd_1"}' });
    assert.equal(on.server.list('started').length, 1);
    assert.deepEqual(
      on.server.list('called').map(({ params }) => params.name),
      ['bclaw_transition', 'bclaw_transition'],
    );
    await on.acts[Symbol.asyncDispose]();
    assert.deepEqual(on.server.alive, []);
  });

  test('a project that is not watched is not acted on', async () => {
    await using on = rig(true);
    await assert.rejects(on.acts.act('bc-other', ACCEPT, never), isFault('usage', /there is no project "bc-other"/));
    assert.deepEqual(on.server.noted, []);
  });

  test('what cannot be done starts nothing', async () => {
    await using on = rig(true);
    await assert.rejects(on.acts.act('bc-lab', { ...ACCEPT, item: 'clm_1' }, never), isFault('usage', /is a claim/));
    assert.deepEqual(on.server.noted, []);
  });

  test('where brainclaw is not installed the exact call is told, by tool and by command', async () => {
    await using on = rig(true, false);
    const call = 'bclaw_transition \\{"entity":"candidate","id":"cnd_1","to":"accepted"\\}';
    const reported = new RegExp(
      `no brainclaw on PATH .*; the call is ${call}, or cd .* && brainclaw accept cnd_1 --by ada$`,
    );
    await assert.rejects(on.acts.act('bc-lab', ACCEPT, never), isFault('brainclaw-missing', reported));
  });
});

test('what the params of the action leave out is null', () => {
  const request = { do: 'reject', item: 'cnd_1' };
  assert.deepEqual(parseActionParams({ project: 'bc-lab', ...request, text: 'too narrow' }), {
    project: 'bc-lab',
    request: { ...request, text: 'too narrow', step: null },
  });
});
