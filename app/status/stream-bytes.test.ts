import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statusRig, TOKEN } from '../../test/kit/status-rig.ts';
import { openCountingReader } from '../../test/kit/stream-bytes.ts';

const PERSONAS = 1001;
const BAR = 5 * 1024;

for (const isGzip of [true, false]) {
  const form = isGzip ? 'in gzip' : 'as it is';
  test(`given 1,001 personas, one mail costs a tab at most 5 KB, ${form}, five times`, async () => {
    await using rig = await statusRig();
    const names = Array.from({ length: PERSONAS }, (_, i) => `persona-${i}`);
    for (const name of names) {
      rig.join(name);
      rig.poll(name, 0);
    }
    using tab = openCountingReader(rig.port, TOKEN, isGzip);
    const first = await tab.take('the whole status', (text) => /event: newest\ndata: .*\n\n/.test(text));
    for (let i = 1; i <= 5; i += 1) {
      const name = names[i * 100] ?? '';
      rig.poll(name, 1);
      await rig.mail(name, i);
      const bytes = await tab.take(
        `the mail of ${name}`,
        (text) => text.includes(`SECRET-TEXT ${i}`) && text.includes('event: change'),
      );
      assert.ok(bytes > 100 && bytes <= BAR, `mail ${i}: ${bytes} bytes, and ${first} at first`);
    }
    assert.ok(first > BAR, 'the whole status is far more');
  });
}
