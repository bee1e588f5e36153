import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { toStem } from '../../../core/state/index.ts';
import { scratch } from '../../../test/kit/scratch.ts';
import type { DoctorContext } from './doctor-context.ts';
import { judgeEventFiles } from './mail-judges.ts';
import { probeEventFiles } from './probes.node.ts';

test('G8 given personas whose names JSON spells otherwise, their event files are found to have everything', async () => {
  using place = scratch();
  mkdirSync(place.at('events'));
  const personas = ['a\\b', 'a"b', 'a\\"', 'plain', 'zo\u00eb\u0007'];
  const watches = personas.map((persona) => ({ persona, newest: `${persona}:new:3` }));
  const put = (id: string, persona: string): void =>
    writeFileSync(
      place.at(`events/events.${toStem(persona)}.ndjson`),
      `{"event": "new", "event_id": ${JSON.stringify(id)}, "wake_class": "mail"}\n`,
    );
  for (const { persona, newest } of watches) put(newest, persona);
  const scene = {
    dirs: { state: place.dir },
    database: async () => ({ is: 'read', watches }),
    tray: async () => ({ is: 'absent' }),
  } as unknown as DoctorContext;
  assert.deepEqual(judgeEventFiles(await probeEventFiles(scene)).is, 'ok');
  put('a\\b:new:2', 'a\\b');
  assert.match(judgeEventFiles(await probeEventFiles(scene)).seen, /its last event is not the newest/);
});
