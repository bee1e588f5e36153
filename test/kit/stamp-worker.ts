/**
 * One process of the race between pushes, hooks and stamps: `push` pushes for its persona and runs the hook at once, which
 * must ask; `stamp` stamps everybody all the time; `drain` takes what is pending. Prints what it saw as JSON.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createElsewhereCheck, createPendingStamper } from '../../app/hook/index.ts';
import { openItems } from '../../core/inbox/index.ts';
import { realClock, realRandom, silentLog } from '../../core/ports/index.ts';
import { createRealDisk, openDatabase } from '../../core/state/index.ts';

const [role = '', state = '', persona = '', rounds = '0'] = process.argv.slice(2);
const run = join(state, 'run');
const over = join(state, 'over');
const db = openDatabase(join(state, 'hivebar.sqlite'));
const items = openItems({ db, clock: realClock });

function push(key: string, toAll: boolean): void {
  const to = toAll ? ({ is: 'everyone' } as const) : ({ is: 'persona', name: persona } as const);
  const more = { session: null, created: realClock.now(), expires: null, dedupKey: key } as const;
  items.push([{ to, type: 'event', source: 'race', content: key, priority: 1, ...more }]);
}

function isAsked(): boolean {
  const script = join(state, 'hook', 'hivebar-hook');
  const { status, stderr } = spawnSync(script, ['claude', 'PostToolUse', persona], { encoding: 'utf8', env: {} });
  if (stderr !== '') throw new Error(stderr);
  return status === 2; // what stands in for the program ends so
}

function drain(): void {
  const lease = items.lease({ persona, session: null, upTo: 4, most: 100, forMs: 30_000 });
  items.markDelivered(
    lease,
    lease.items.map(({ id }) => id),
  );
}

if (role === 'push') {
  let missed = 0;
  let quiet = 0;
  for (let n = 0; n < Number(rounds); n += 1) {
    push(`${persona}-${process.pid}-${n}`, n % 5 === 4);
    if (!isAsked()) missed += 1;
    drain();
    if (!isAsked()) quiet += 1;
  }
  process.stdout.write(JSON.stringify({ missed, quiet }));
} else {
  const dirs = { state, run, config: join(state, 'config') };
  const needs = { db, dirs, disk: createRealDisk(silentLog), clock: realClock, random: realRandom };
  const stamp = createPendingStamper({ ...needs, isElsewhere: createElsewhereCheck(needs.disk, dirs.state) });
  const output: Record<string, number> = {};
  const personas = persona.split(',');
  writeFileSync(join(state, `ready-${process.pid}`), '');
  while (!existsSync(over)) {
    for (const name of personas) {
      const became = stamp(name);
      output[became] = (output[became] ?? 0) + 1;
    }
  }
  process.stdout.write(JSON.stringify(output));
}
