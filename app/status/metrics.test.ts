import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { describe, test } from 'node:test';
import { displayName } from '../../core/format/index.ts';
import { AGENT_STATE_NOT_REPORTED, exactly, UNKNOWN } from '../../core/model/index.ts';
import { type StatusRig, statusRig } from '../../test/kit/status-rig.ts';
import type { StatusWire } from './wire.ts';

/** Samples of a scrape, `name{labels}` -> value, read by the rules of the text format and not by its writer. */
async function scrape(rig: StatusRig): Promise<Map<string, number>> {
  const answer = await fetch(`http://127.0.0.1:${rig.port}/metrics`);
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
  const lines = (await answer.text()).split('\n');
  assert.equal(lines.pop(), '', 'ends with a line feed');
  const samples = new Map<string, number>();
  for (const line of lines) {
    if (line === '' || /^# (HELP|TYPE) [a-z_]+ ./.test(line)) continue;
    const found = /^([a-z_]+(?:\{(?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)+\})?) (\S+)$/.exec(line);
    assert.ok(found !== null, `no sample: ${line}`);
    const [, key = '', value = ''] = found;
    assert.ok(!samples.has(key), `twice: ${key}`);
    assert.ok(Number.isFinite(Number(value)), line);
    samples.set(key, Number(value));
  }
  return samples;
}

const formatSeries = (metric: string, persona: string, source = 'local'): string =>
  `${metric}{persona="${persona}",source="${source}"}`;

describe('metrics', () => {
  test('are the numbers of the status of the same moment', async () => {
    await using rig = await statusRig();
    for (const persona of ['ada', 'bo', 'cy', 'di']) rig.join(persona);
    rig.poll('ada', 3, 1);
    rig.poll('bo', 0);
    rig.down('cy');
    rig.board.put({ is: 'hidden', at: Date.now(), persona: 'bo', hidden: true });
    await rig.mail('ada', 1, 2);
    const [samples, answer] = await Promise.all([scrape(rig), fetch(`http://127.0.0.1:${rig.port}/status.json`)]);
    const status = (await answer.json()) as StatusWire;
    const states = (state: string) => samples.get(`hivebar_personas{state="${state}"}`);
    assert.deepEqual(
      [samples.get('hivebar_unread'), samples.get('hivebar_urgent'), states('UP'), states('DOWN')],
      [status.totals.unread, status.totals.urgent, status.totals.up, status.totals.down],
    );
    assert.equal(
      ['UP', 'DOWN', 'PENDING', 'OFF'].reduce((sum, state) => sum + (states(state) ?? Number.NaN), 0),
      status.totals.personas,
    );
    for (const { id, unread, urgent, state, asOf, staleAfter } of status.personas) {
      const seconds = (time: string | null): number | undefined =>
        time === null ? undefined : Date.parse(time) / 1000;
      assert.equal(samples.get(formatSeries('hivebar_persona_unread', id)), unread ?? undefined, id);
      assert.equal(samples.get(formatSeries('hivebar_persona_urgent', id)), urgent ?? undefined, id);
      assert.equal(
        samples.get(formatSeries('hivebar_persona_up', id)),
        { UP: 1, DOWN: 0, PENDING: undefined, OFF: undefined }[state],
      );
      assert.equal(samples.get(formatSeries('hivebar_persona_seen_timestamp_seconds', id)), seconds(asOf), id);
      assert.equal(samples.get(formatSeries('hivebar_persona_stale_timestamp_seconds', id)), seconds(staleAfter), id);
    }
    assert.equal(samples.get('hivebar_causes{scope="source"}'), status.causes.length);
    assert.deepEqual(
      ['hivebar_looks_total', 'hivebar_look_failures_total', 'hivebar_events_total{event="new"}'].map((name) =>
        samples.get(name),
      ),
      [2, 1, 2],
    );
  });

  test('say what agents do, and how long one waits for its person', async () => {
    await using rig = await statusRig();
    for (const persona of ['ada', 'bo', 'cy']) rig.join(persona);
    const at = Date.now();
    const state = { is: 'waiting', why: 'permission', since: at - 60_000 } as const;
    rig.board.put({ is: 'agent', at, persona: 'ada', reporter: 'hook', state });
    rig.board.put({ is: 'agent', at, persona: 'bo', reporter: 'session', state: { is: 'working' } });
    const samples = await scrape(rig);
    const count = (is: string) => samples.get(`hivebar_agents{state="${is}"}`);
    assert.deepEqual(['waiting', 'working', 'unknown', 'gone'].map(count), [1, 1, 1, 0]);
    const seconds = samples.get('hivebar_agent_waiting_seconds{persona="ada",source="local",reason="permission"}');
    assert.ok(seconds !== undefined && seconds >= 60 && seconds < 70, String(seconds));
  });

  test('leave out what is not known: it is absent, not 0', async () => {
    await using rig = await statusRig();
    rig.join('ada');
    const before = [...(await scrape(rig)).keys()];
    assert.ok(!before.some((key) => /^hivebar_(persona_|unread|urgent)/.test(key)), String(before));
    const counts = [{ persona: 'ada', unread: { is: 'atLeast', n: 4 }, urgent: UNKNOWN }] as const;
    rig.board.put({ is: 'counted', at: Date.now(), counts });
    const least = await scrape(rig);
    assert.deepEqual(
      [
        formatSeries('hivebar_persona_unread', 'ada'),
        formatSeries('hivebar_persona_unread_exact', 'ada'),
        formatSeries('hivebar_persona_urgent', 'ada'),
      ].map((key) => least.get(key)),
      [4, 0, undefined],
    );
    rig.poll('ada', 0);
    assert.equal(
      (await scrape(rig)).get(formatSeries('hivebar_persona_unread', 'ada')),
      0,
      'a 0 that is known is there',
    );
  });

  test('B6 hold names of others as values: each is one sample, and nothing in it acts on a terminal', async () => {
    await using rig = await statusRig();
    const names = [
      'a"} 1\nhivebar_unread 999',
      'back\\slash',
      '\\n',
      '\n',
      '"',
      'zoë 🐝',
      '<b>&amp;</b>',
      '\u202ertl',
      '\u001b[2J',
      '}',
    ];
    for (const name of names) {
      rig.join(name, name, name);
      rig.poll(name, 1);
    }
    const samples = await scrape(rig);
    assert.equal(samples.get('hivebar_unread'), names.length);
    const escaped = (text: string): string => displayName(text).replaceAll('\\', '\\\\').replaceAll('"', '\\"');
    for (const name of names)
      assert.equal(
        samples.get(formatSeries('hivebar_persona_unread', escaped(name), escaped(name))),
        1,
        JSON.stringify(name),
      );
  });

  test('name a persona whose name is very long by its stem, so that no two fall together', async () => {
    await using rig = await statusRig();
    for (const [persona, stem] of [
      [`${'x'.repeat(100_000)}1`, 'x~1'],
      [`${'x'.repeat(100_000)}2`, 'x~2'],
    ] as const) {
      const at = Date.now();
      const named = { persona, stem, source: 'local', address: persona, label: persona, eventsFile: null };
      rig.board.put({ is: 'joined', at, ...named, lastEventId: null, staleAfterMs: 1000 });
      const counts = { unread: exactly(1), urgent: exactly(0), agentState: AGENT_STATE_NOT_REPORTED, cursor: 1 };
      rig.board.put({ is: 'polled', at, persona, health: { is: 'up', since: at }, ...counts });
    }
    const samples = await scrape(rig);
    assert.deepEqual(
      [
        samples.get(formatSeries('hivebar_persona_unread', 'x~1')),
        samples.get(formatSeries('hivebar_persona_unread', 'x~2')),
      ],
      [1, 1],
    );
  });

  test('tell of the process and of this build', async () => {
    await using rig = await statusRig();
    const samples = await scrape(rig);
    assert.equal(samples.get(`hivebar_build_info{version="0.0.0-test",node="${process.version}"}`), 1);
    const started = samples.get('process_start_time_seconds') ?? 0;
    assert.ok(Math.abs(started - (Date.now() / 1000 - process.uptime())) < 5);
    for (const name of ['process_cpu_seconds_total', 'process_resident_memory_bytes', 'nodejs_heap_size_used_bytes'])
      assert.ok((samples.get(name) ?? 0) > 0, name);
  });

  test('load their library with the first request and not before, and keep nothing between requests', async () => {
    const program = `
      import { createRequire } from 'node:module';
      import { statusRig } from './test/kit/status-rig.ts';
      const loaded = () => Object.keys(createRequire(import.meta.url).cache).filter((path) => path.includes('prom-client'));
      const rig = await statusRig();
      const before = loaded().length;
      const sizes = [];
      for (let i = 0; i < 3; i += 1) sizes.push((await (await fetch('http://127.0.0.1:' + rig.port + '/metrics')).text()).split('\\n').length);
      process.stdout.write(JSON.stringify({ before, after: loaded().length, entry: loaded().some((path) => /prom-client.index/.test(path)), sizes }));
      await rig[Symbol.asyncDispose]();
      process.exit();
    `;
    const child = spawn(process.execPath, ['--input-type=module-typescript', '--eval', program], {
      cwd: new URL('../..', import.meta.url),
    });
    let output = '';
    let wrong = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    child.stderr.on('data', (chunk) => {
      wrong += chunk;
    });
    await new Promise((resolve) => child.once('close', resolve));
    assert.notEqual(output, '', wrong);
    const reported = JSON.parse(output) as { before: number; after: number; entry: boolean; sizes: number[] };
    assert.equal(reported.before, 0);
    assert.ok(reported.after > 0 && !reported.entry, 'only the parts that are used');
    assert.equal(new Set(reported.sizes).size, 1);
  });
});
