import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBoard } from '../../core/board/index.ts';
import { AGENT_STATE_NOT_REPORTED, exactly } from '../../core/model/index.ts';
import { realClock, silentLog } from '../../core/ports/index.ts';
import { supervise } from '../../core/services/index.ts';
import { openOutbox } from '../../core/sinks/outbox/index.ts';
import type { Source } from '../../core/sources/index.ts';
import { createRealDisk, openDatabase } from '../../core/state/index.ts';
import { scratch } from '../../test/kit/scratch.ts';
import { stillClocks } from '../../test/kit/still-clocks.ts';
import { readLogLines } from '../../test/kit/tray-process.ts';
import { until } from '../../test/kit/until.ts';
import { openSettings } from '../config/tray/index.ts';
import type { Machine } from '../host/machine.node.ts';
import { createHiveWatchers, type SavedTrayState } from './hive-watchers.ts';

test('given a fault in the middle, the watch of a hive runs again, repeats nothing and misses nothing', async () => {
  using home = scratch();
  const disk = createRealDisk(silentLog);
  using db = openDatabase(home.at('hivebar.sqlite'));
  const board = createBoard();
  using outbox = openOutbox<SavedTrayState>({
    ...{
      db,
      disk,
      clock: realClock,
      clocks: stillClocks,
      directory: home.at('events'),
      journal: home.at('outbox.journal'),
    },
    onBehind: () => {},
  });
  let newest = 2;
  let isBroken = false;
  const source: Source = {
    id: 'team',
    kind: 'garden', // a set: only what was saved tells what is known of it
    personas: async () => [named('ada')],
    isGone() {
      if (!isBroken) return false;
      isBroken = false;
      throw new Error('boom');
    },
    async poll() {
      const items = Array.from({ length: newest }, (_, i) => ({
        ...{
          key: `k${i + 1}`,
          fingerprint: 'fresh',
          appeared: 'new' as const,
          changed: null,
          vanished: 'gone' as const,
        },
        ...{ from: 'bo', created: '2026-06-20T00:00:00', content: 'x', extra: { stem: `k${i + 1}` } },
      }));
      const evidence = { is: 'set' as const, epoch: '1', items };
      return { at: 0, unread: exactly(newest), urgent: exactly(0), agentState: AGENT_STATE_NOT_REPORTED, evidence };
    },
    [Symbol.asyncDispose]: async () => {},
  };
  const named = (address: string) => ({ id: `team-${address}`, address, label: address });
  const reported: string[] = [];
  const report = (name: string, fault: Error | null): void => void reported.push(`${name}: ${fault?.message}`);
  await using supervisor = supervise({ clock: realClock, log: silentLog, report });
  const watchers = createHiveWatchers({
    hive: {
      ...{ source, address: 'here', named, holdMs: null, kind: 'disk', deliversBacklog: true },
      identity: ({ address }) => ['team', address],
    },
    settings: { ...openSettings(home.at('config')).settings, pollSeconds: 60 },
    ...{ outbox, directory: home.at('events'), savedStates: outbox.readAllSaved(), board, run: '00ff00ff00ff00ff' },
    machine: { clock: realClock, log: silentLog } as unknown as Machine, // nothing else of it is asked
    settling: () => false,
  });
  supervisor.add(watchers);
  const delivered = (): readonly unknown[] =>
    readLogLines(home.at('events'), 'events.team-ada.ndjson')
      .map((line) => JSON.parse(line) as { event: string; stem?: string })
      .flatMap(({ event, stem }) => (event === 'new' ? [stem] : []));
  await until('the first two', () => delivered().length === 2);
  newest = 3;
  isBroken = true;
  watchers.poll();
  await until('the fault', () => reported.length === 1);
  newest = 4;
  await until('the fourth', () => delivered().includes('k4'));
  assert.deepEqual(delivered(), ['k1', 'k2', 'k3', 'k4']);
  assert.deepEqual(reported, ['watch of team: Error: boom']);
  assert.deepEqual(
    board.snapshot().personas.map(({ id }) => id),
    ['team-ada'],
  );
});
