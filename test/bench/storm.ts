import { closeSync, fdatasyncSync, openSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { quantile, type Sample } from './harness.ts';
import { eventFile, fillLocalHive, localHome, post, spin, startTray, temporary, untilArmed } from './rig.ts';

const ROUNDS = 7;
/** The first rounds, in which what runs is compiled. */
const COLD = 2;

/** A storm over a tray process of its own, and the floor beside it. */
export async function storm(personas: readonly string[]): Promise<Sample> {
  const home = localHome(personas);
  await using tray = await startTray(home);
  await untilArmed(home, personas);
  const took = await measureStorms(home, tray, personas);
  return { value: quantile(took, 0.5), floor: measureStormFloor(personas) };
}

/** Another process has written a message to each, and pokes: milliseconds from the poke to the last line, for each round. */
export async function measureStorms(
  home: string,
  tray: { readonly port: number; readonly token: string },
  personas: readonly string[],
  rounds = ROUNDS,
): Promise<readonly number[]> {
  const took: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await sleep(1800); // from rest, with a heap that was given back
    const sizes = new Map(personas.map((persona) => [persona, statSync(eventFile(home, persona)).size]));
    fillLocalHive(
      home,
      personas.map((to) => ({ to, content: `mail of round ${round}` })),
    );
    const from = performance.now();
    const poked = post(tray.port, tray.token, '/api/v1/actions/hive-changed', {});
    const left = [...personas];
    await spin(() => {
      while (left.length > 0) {
        const persona = left.at(-1) ?? '';
        if (statSync(eventFile(home, persona)).size === sizes.get(persona)) return false;
        left.pop();
      }
      return true;
    }, 30_000);
    if (round >= COLD) took.push(performance.now() - from);
    await poked;
  }
  return took;
}

export function measureStormFloor(personas: readonly string[]): NonNullable<Sample['floor']> {
  const took = [1, 2, 3, 4, 5].map(() => measureAppends(personas));
  return {
    value: quantile(took, 0.5),
    unit: 'ms',
    what: `one flush, then ${personas.length.toLocaleString('en-US')} appends`,
  };
}

function measureAppends(personas: readonly string[]): number {
  const folder = temporary();
  const line = Buffer.from(`${'x'.repeat(270)}\n`);
  const files = personas.map((persona) => openSync(join(folder, persona), 'a'));
  const journal = openSync(join(folder, 'journal'), 'a');
  const from = performance.now();
  writeSync(journal, Buffer.concat(files.map(() => line)));
  fdatasyncSync(journal);
  for (const fd of files) writeSync(fd, line);
  const took = performance.now() - from;
  for (const fd of [...files, journal]) closeSync(fd);
  return took;
}
