import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Fact } from '../../core/board/index.ts';
import { silentLog } from '../../core/ports/index.ts';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import type { LoginStartStatus } from '../service/index.ts';
import { createRepairService } from './store-upkeep.ts';

test('G9 what cannot be mended is a cause on the board, once, until it is mended; a failure of one keeps none of the others', async () => {
  const clock = fakeClock();
  const put: Fact[] = [];
  const repaired: string[] = [];
  let gone: string | null = '/gone/node';
  const off: LoginStartStatus = { is: 'off', path: null };
  const service = createRepairService(
    {
      hooks: { repair: () => false, findMissing: () => gone },
      login: {
        repair: async () => {
          repaired.push('login');
          if (repaired.length === 1) throw new Error('no systemd');
          return off;
        },
      },
      daemons: () => [
        {
          name: 'acme-ada',
          service: {
            repair: async () => {
              repaired.push('daemon');
              return '/gone/node';
            },
          },
        },
      ],
      put: (fact) => put.push(fact),
    },
    { clock, log: silentLog },
  );
  const stop = new AbortController();
  const running = service.run(stop.signal);
  const waitUntilQuiet = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  await waitUntilQuiet();
  assert.deepEqual(
    put.map((fact) => fact.is === 'machine' && [fact.key, fact.fault?.code]),
    [
      ['hooks', 'hook-gone'],
      ['login', 'internal'],
    ],
  );
  assert.match(
    put[0]?.is === 'machine' ? (put[0].fault?.explain() ?? '') : '',
    /\/gone\/node, which does not exist: run hivebar hook install/,
  );
  assert.deepEqual(repaired, ['login', 'daemon']);
  await clock.advance(5 * 60_000);
  await waitUntilQuiet();
  assert.deepEqual(
    put.slice(2).map((fact) => fact.is === 'machine' && [fact.key, fact.fault]),
    [['login', null]],
  );
  gone = null;
  await clock.advance(5 * 60_000);
  await waitUntilQuiet();
  assert.deepEqual(
    put.slice(3).map((fact) => fact.is === 'machine' && [fact.key, fact.fault]),
    [['hooks', null]],
  );
  stop.abort();
  await running;
  assert.equal(clock.waiting, 0);
});
