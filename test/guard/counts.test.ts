import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { packed } from '../bench/rig.ts';
import { needs } from '../kit/require.ts';
import { hasStrace } from '../kit/strace.ts';
import { type Counts, compareCounts, readSavedCounts } from './counts.ts';
import { countPrograms, countWakeUps } from './measure.ts';

/** Red for a regression. An improvement is said, so that it is saved with the change that made it. */
function check(t: TestContext, counted: Counts): void {
  const { regressions, improvements } = compareCounts(readSavedCounts(), counted);
  for (const line of improvements)
    t.diagnostic(`less than saved: ${line}; node scripts/run.mjs test/guard/save.ts saves it`);
  assert.deepEqual(
    regressions,
    [],
    'more than test/guard/counts.json says: find out why; if it must be, node scripts/run.mjs test/guard/save.ts',
  );
}

describe('counts that cost time and memory on every machine', () => {
  test('given the package, when its programs start, take messages and rest, they do no more than before', async (t) => {
    if (needs(t, hasStrace() ? null : 'strace is missing: apt-get install strace')) return;
    const folder = mkdtempSync(join(tmpdir(), 'hivebar-guard-'));
    t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));
    const dist = process.env.HIVEBAR_TEST_PACKAGE ?? (await packed());
    check(t, await countPrograms({ dist, folder }));
  });

  test('given a tray process on a fake clock, when nothing happens, it wakes no more often than before', async (t) => {
    check(t, await countWakeUps());
  });

  test('given saved counts, when one grows by more than a twentieth or is new, it is a regression', () => {
    const saved = { small: 2, large: 100, none: 0 };
    assert.deepEqual(compareCounts(saved, { small: 2, large: 105, none: 0 }), { regressions: [], improvements: [] });
    assert.deepEqual(compareCounts(saved, { small: 3, large: 106, none: 1, fresh: 1 }).regressions, [
      'small: 3, saved 2',
      'large: 106, saved 100',
      'none: 1, saved 0',
      'fresh: 1, saved undefined',
    ]);
    assert.deepEqual(compareCounts(saved, { small: 1, large: 94, none: 0 }).improvements, [
      'small: 1, saved 2',
      'large: 94, saved 100',
    ]);
  });
});
