/** `node scripts/run.mjs test/guard/save.ts`: counts anew, and saves what was counted in counts.json. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packed } from '../bench/rig.ts';
import { saveCounts } from './counts.ts';
import { countPrograms, countWakeUps } from './measure.ts';

const folder = mkdtempSync(join(tmpdir(), 'hivebar-guard-'));
try {
  const counts = { ...(await countPrograms({ dist: await packed(), folder })), ...(await countWakeUps()) };
  saveCounts(counts);
  process.stdout.write(`${JSON.stringify(counts, null, 2)}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}
