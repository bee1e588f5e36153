import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { realClock } from '../../core/ports/index.ts';
import { statusRig } from '../../test/kit/status-rig.ts';

describe('readyz', () => {
  test('is 503 while it starts, then 200; it names who is waited for', async () => {
    await using other = await statusRig();
    const ask = async () => {
      const answer = await fetch(`http://127.0.0.1:${other.port}/readyz`);
      return [answer.status, await answer.text()] as const;
    };
    assert.equal((await ask())[0], 503);
    other.join('ada');
    const [status, text] = await ask();
    assert.equal(status, 503);
    assert.match(text, /"starting".*\\"ada\\"/);
    other.poll('ada', 0);
    assert.deepEqual(await ask(), [200, '{"ready":true,"personas":1}']);
    other.down('ada');
    assert.equal((await ask())[0], 200, 'an outage of a hive is not ours');
  });

  test('is 503 when inboxes are not even tried any more, and names ten of them, while the process answers', async () => {
    let passed = 0;
    const clock = { ...realClock, monotonic: () => realClock.monotonic() + passed };
    await using other = await statusRig({ clock });
    for (let i = 10; i < 22; i += 1) {
      other.join(`p${i}`);
      other.poll(`p${i}`, 0);
    }
    passed = 89_000;
    assert.equal((await fetch(`http://127.0.0.1:${other.port}/readyz`)).status, 200);
    passed = 90_001;
    const answer = await fetch(`http://127.0.0.1:${other.port}/readyz`);
    assert.equal(answer.status, 503);
    const { error } = (await answer.json()) as { error: { code: string; message: string } };
    assert.equal(error.code, 'stopped');
    assert.match(error.message, /"p10", .*"p19" and 2 more$/);
    assert.equal((await fetch(`http://127.0.0.1:${other.port}/healthz`)).status, 200);
  });
});
