import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { computeNonce, type EmissionTime } from '../../core/events/index.ts';
import { fakeHive } from '../kit/fake-hive.ts';
import { startCli } from '../kit/process.ts';
import { needs } from '../kit/require.ts';
import { scratch } from '../kit/scratch.ts';
import { statusRig, TOKEN } from '../kit/status-rig.ts';

/** Identity of events (Kijito contract b) at real processes, sockets and files. */
const emittedIn = (event: { readonly [key: string]: unknown }): EmissionTime => event.emitted as EmissionTime;

/** What a stream sent until the block with `words` was whole. */
async function streamedUntil(url: string, words: string, headers: Record<string, string>): Promise<string> {
  const stop = new AbortController();
  const { body } = await fetch(url, { headers, signal: AbortSignal.any([stop.signal, AbortSignal.timeout(30_000)]) });
  assert.ok(body !== null);
  let text = '';
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const at = text.indexOf(words);
    if (at >= 0 && text.indexOf('\n\n', at) >= 0) break;
  }
  stop.abort();
  return text;
}

describe('nonce and emitted', () => {
  test('are on every line of a headless watch; the clock of sleep too, where a file is locked', async (t) => {
    if (needs(t, process.platform === 'linux' ? null : 'the names of the clocks are those of Linux')) return;
    await using hive = await fakeHive({ personas: ['ada'] });
    using dir = scratch();
    const state = ['--state-file', dir.at('state.json')];
    for (const [args, names] of [
      [[], ['CLOCK_MONOTONIC']],
      [state, ['CLOCK_MONOTONIC', 'CLOCK_BOOTTIME']],
    ] as const) {
      await using cli = startCli(['watch', '--hive', hive.url, '--poll-seconds', '1', '--persona', 'ada', ...args]);
      await cli.event('armed');
      hive.deliver('ada');
      await cli.event('new');
      for (const event of cli.events) {
        assert.equal(event.nonce, computeNonce(String(event.event_id)));
        const emitted = emittedIn(event);
        assert.deepEqual(Object.values(emitted.src), names);
        assert.equal('boottime' in emitted, names.length === 2);
        assert.ok((emitted.monotonic ?? 0) > 0 && String(event.ts) <= emitted.wall);
        assert.deepEqual(Object.keys(event).slice(-4), ['event_id', 'wake_class', 'nonce', 'emitted']);
      }
    }
  });

  test('a command has the nonce in its environment', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    using dir = scratch();
    const command = `echo "$KIJITOMON_EVENT_ID $KIJITOMON_NONCE" >> '${dir.at('out')}'`;
    const emit = ['--emit', 'exec-per-event', '--exec', command];
    await using cli = startCli(['watch', '--hive', hive.url, '--poll-seconds', '1', '--persona', 'ada', ...emit]);
    const out = (): string => dir.text('out');
    await cli.until('armed', () => out().includes('armed'));
    hive.deliver('ada');
    await cli.until('mail', () => out().includes('new'));
    for (const line of out().trimEnd().split('\n')) {
      const [id = '', nonce] = line.split(' ');
      assert.equal(nonce, computeNonce(id));
    }
  });

  test('the event file, the stream and the API of the owner have one text of an event; without the token its times stay', async () => {
    await using rig = await statusRig();
    rig.join('ada');
    const auth = { Authorization: `Bearer ${TOKEN}` };
    await rig.mail('ada', 1, 2);
    const at = (path: string): string => `http://127.0.0.1:${rig.port}/api/v1${path}?since=`;
    const text = await (await fetch(at('/events'), { headers: auth })).text();
    const streamed = await streamedUntil(at('/stream'), 'id: ada:new:2\n', auth);
    const open = (await (await fetch(at('/events'))).json()) as { events: Record<string, unknown>[] };
    const lines = readFileSync(join(rig.dir, 'events', 'events.ada.ndjson'), 'utf8')
      .trimEnd()
      .split('\n');
    assert.equal(lines.length, 2);
    for (const [i, line] of lines.entries()) {
      assert.ok(text.includes(line), `${text} has ${line}`);
      assert.ok(streamed.includes(`data: ${line}\n`), `${streamed} has ${line}`);
      const { nonce, emitted, event_id } = JSON.parse(line);
      assert.equal(nonce, computeNonce(event_id));
      assert.deepEqual([open.events[i]?.nonce, open.events[i]?.emitted], [nonce, emitted]);
    }
  });
});
