import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import { type ShimListener, type ShimView, type StartShim, startShim } from './shim.ts';

interface Output {
  readonly id: number;
  readonly call: string;
}

/** Shims that are no processes: a test answers for them, or not. */
function rig({ startable = true } = {}) {
  const clock = fakeClock();
  const shims: {
    readonly listener: ShimListener;
    readonly asked: Output[];
    readonly answer: (more?: object) => void;
  }[] = [];
  const views: ShimView[] = [];
  let ends = 0;
  const start: StartShim = (listener) => {
    const asked: Output[] = [];
    const answer = (more: object = { ok: true }): void =>
      listener.line(JSON.stringify({ id: asked.at(-1)?.id, ...more }));
    shims.push({ listener, asked, answer });
    if (!startable) clock.after(0, () => listener.ended());
    return {
      pid: startable ? 1000 + shims.length : null,
      write: (line) => void asked.push(JSON.parse(line) as Output),
      async end() {
        ends += 1;
        listener.ended();
      },
    };
  };
  const shim = startShim({ start, clock, chance: () => 0.5, changed: (view) => views.push(view) });
  const newest = () => {
    const shimProcess = shims.at(-1);
    assert.ok(shimProcess);
    return shimProcess;
  };
  return { clock, shims, views, shim, newest, ends: () => ends };
}

describe('a shim and what it is asked', () => {
  test('a line is asked with an id, and the answer of that id is the answer', async () => {
    await using stack = new AsyncDisposableStack();
    const { shim, newest, clock } = rig();
    stack.use(shim);
    const asked = shim.ask({ call: 'resume_surface' }, 1000);
    newest().listener.line('not JSON');
    newest().listener.line('{"id":999,"ok":false}');
    newest().answer({ ok: true, more: 'is passed over' });
    assert.deepEqual(await asked, { id: 1, ok: true, status: null });
    await clock.advance(1000);
  });

  test('a shim that ends with a question open has not answered it: a ring in flight was not emitted', async () => {
    const { shim, newest } = rig();
    const asked = shim.ask({ call: 'status' }, 1000);
    newest().listener.ended();
    await assert.rejects(asked, /the shim ended/);
    await assert.rejects(shim.ask({ call: 'status' }, 1000), /no shim is running/);
    await shim[Symbol.asyncDispose]();
  });

  test('an answer that is too late is none, and one of a shim before is none of this one', async () => {
    const { shim, newest, shims, clock } = rig();
    const late = assert.rejects(shim.ask({ call: 'status' }, 1000), /did not answer status/);
    await clock.advance(1000);
    await late;
    newest().answer();
    newest().listener.ended();
    await clock.advance(1000);
    assert.equal(shims.length, 2);
    await shim[Symbol.asyncDispose]();
  });

  test('a shim that hangs is ended after two probes and started again; each change is told', async () => {
    const { shim, clock, views, ends, shims } = rig();
    await clock.advance(15_000 + 1000);
    assert.equal(ends(), 0);
    await clock.advance(15_000 + 1000);
    assert.equal(ends(), 1);
    assert.equal(shim.view.state, 'backoff');
    await clock.advance(1000);
    assert.deepEqual(
      views.map(({ state, pid, restarts }) => [state, pid, restarts]),
      [
        ['running', 1001, 0],
        ['backoff', null, 0],
        ['running', 1002, 1],
      ],
    );
    assert.equal(shims.length, 2);
    await shim[Symbol.asyncDispose]();
    assert.equal(clock.waiting, 0);
  });

  test('a probe of a shim that ended is none of the next one, and is not waited for', async () => {
    const { shim, clock, newest } = rig();
    await clock.advance(15_000);
    newest().listener.ended();
    await clock.advance(0);
    assert.equal(clock.waiting, 1, 'the wait for the next start');
    await shim[Symbol.asyncDispose]();
    assert.equal(clock.waiting, 0);
  });

  test('one that answers its probes runs on', async () => {
    const { shim, clock, newest, ends } = rig();
    for (let n = 0; n < 10; n += 1) {
      await clock.advance(15_000);
      newest().answer({ ok: true, alive: true, accepting: true });
      await clock.advance(0);
    }
    assert.deepEqual([ends(), shim.view.restarts], [0, 0]);
    await shim[Symbol.asyncDispose]();
    assert.equal(clock.waiting, 0);
  });

  test('one that cannot be started is tried again, ever more slowly, and at once when the surface is back', async () => {
    const { shim, clock, shims } = rig({ startable: false });
    await clock.advance(0);
    assert.equal(shim.view.state, 'backoff');
    await clock.advance(1000);
    assert.equal(shims.length, 2);
    shim.resume();
    shim.resume();
    assert.equal(shims.length, 3, 'the end of the third is not told yet');
    await clock.advance(0);
    assert.equal(shim.view.state, 'backoff');
    await shim[Symbol.asyncDispose]();
    assert.equal(clock.waiting, 0);
  });

  test('a line without end ends it', async () => {
    const { shim, newest, ends } = rig();
    newest().listener.line(null);
    assert.equal(ends(), 1);
    await shim[Symbol.asyncDispose]();
  });

  test('disposed: it is ended, and does not come back', async () => {
    const { shim, clock, shims, ends } = rig();
    await shim[Symbol.asyncDispose]();
    await clock.advance(600_000);
    assert.deepEqual([shims.length, ends(), shim.view.state, clock.waiting], [1, 1, 'none', 0]);
  });
});
