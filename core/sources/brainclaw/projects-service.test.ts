import assert from 'node:assert/strict';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fakeClock } from '../../../test/kit/fake-clock.ts';
import { type Scratch, scratch } from '../../../test/kit/scratch.ts';
import type { Fact } from '../../board/index.ts';
import { realRandom, silentLog } from '../../ports/index.ts';
import { supervise, untilAborted } from '../../services/index.ts';
import { createRealDisk } from '../../state/index.ts';
import type { WatchedHive } from '../module.ts';
import { createProjectsService } from './open.ts';

/** A project with this id; null: it is just being made, and has no configuration yet. */
function project(place: Scratch, path: string, id: string | null): string {
  const store = place.at(path, '.brainclaw');
  mkdirSync(join(store, 'events'), { recursive: true });
  if (id !== null) writeFileSync(join(store, 'config.yaml'), `project_id: ${id}\n`);
  return place.at(path);
}

/** Watches that do nothing but read once, until they end. */
function rig(place: Scratch, options: { projects?: readonly string[]; roots?: readonly string[] }) {
  const clock = fakeClock(1_000_000);
  const stop = new AbortController();
  const facts: Fact[] = [];
  const watches: WatchedHive[] = [];
  const lines: string[] = [];
  const report = (service: string): void => void lines.push(`${service} failed`);
  const supervisor = supervise({ clock, log: silentLog, report });
  const service = createProjectsService(
    {
      settings: { brainclaw: { is: 'on' } },
      places: { projects: options.projects ?? [], roots: options.roots ?? [], depth: 3 },
      createSeed: () => null,
    },
    {
      ...{ disk: createRealDisk(silentLog), clock, random: realRandom, contentChars: 220, state: place.at('state') },
      log: { ...silentLog, warn: (line: string) => void lines.push(line) },
      put: (fact) => void facts.push(fact),
      watch(hive) {
        const { source } = hive;
        watches.push(hive);
        const watchers = supervisor.add({
          name: source.id,
          run: async (signal) => {
            await source.personas(signal);
            await untilAborted(signal);
          },
        });
        return {
          async release() {
            await watchers[Symbol.asyncDispose]();
            watches.splice(watches.indexOf(hive), 1);
          },
          leave: () => void lines.push(`${source.id} left`),
        };
      },
    },
  );
  const running = service.run(stop.signal);
  return {
    ...{ service, facts, watches, lines, clock },
    /** Lets time pass until it is so, in steps; at most two minutes. */
    async pass(goal: string, is: () => boolean, step = 0): Promise<void> {
      for (let left = 120; left > 0 && !is(); left -= 1) await clock.advance(step);
      assert.ok(is(), goal);
    },
    ids: () => service.all().map(({ id }) => id),
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await clock.advance(0);
      await running;
      await supervisor[Symbol.asyncDispose]();
    },
  };
}

test('a project below a root is found within a minute, watched, and let go once its store is gone', async () => {
  using place = scratch();
  project(place, 'w/one', 'one');
  await using all = rig(place, { roots: [place.at('w')] });
  await all.pass('the first', () => all.watches.length === 1);
  await all.pass('its sheet', () => all.facts.length === 1);
  project(place, 'w/two', 'two');
  await all.pass('the second', () => all.watches.length === 2, 1000);
  assert.ok(all.clock.now() >= 1_060_000, 'not before a minute');
  assert.deepEqual(all.ids(), ['bc-one', 'bc-two']);
  renameSync(place.at('w/one'), place.at('away'));
  all.service.poll();
  await all.pass('its leave', () => all.facts.some(({ is }) => is === 'withdrawn'));
  assert.deepEqual([all.ids(), all.lines], [['bc-two'], ['bc-one left']]);
});

test('one that is named stays when its store is gone', async () => {
  using place = scratch();
  const named = project(place, 'one', 'one');
  await using all = rig(place, { projects: [named], roots: [place.at('w')] });
  await all.pass('it', () => all.watches.length === 1);
  renameSync(named, place.at('away'));
  project(place, 'w/two', 'two');
  all.service.poll();
  await all.pass('another search', () => all.watches.length === 2);
  assert.deepEqual(all.ids(), ['bc-one', 'bc-two']);
});

test('one that was just being made goes by its id once it says one', async () => {
  using place = scratch();
  const root = project(place, 'w/made', null);
  await using all = rig(place, { roots: [place.at('w')] });
  await all.pass('it', () => all.ids().join() === 'bc-made');
  project(place, 'w/made', 'prj_1');
  all.service.poll();
  await all.pass('its id', () => all.ids().join() === 'bc-prj_1');
  assert.equal(all.service.all()[0]?.root, root);
  assert.equal(all.watches.length, 1);
});

test('without anything to look for it ends at once', async () => {
  using place = scratch();
  await using all = rig(place, {});
  assert.deepEqual(all.watches, []);
});
