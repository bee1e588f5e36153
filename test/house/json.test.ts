import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '..', '..');

/** What these parse was written by Hivebar itself, or by its user as settings, or its size is bounded before. */
const OWN: readonly string[] = [
  'app/cli/',
  'app/daemon/',
  'app/headless/',
  'app/host/',
  'app/program/',
  'app/sources/',
  'app/config/',
  'app/hook/',
  'app/notify/',
  'app/open/',
  'app/package.node.ts',
  'core/events/',
  'core/history/',
  'core/inbox/decisions/rows.ts',
  'core/inbox/gates/turn-file.ts',
  'core/link/config.ts',
  'core/model/json.ts',
  'core/sinks/',
  'app/status/app.node.ts',
  'core/sources/brainclaw/commands/simulated-store.node.ts',
  'core/sources/brainclaw/cursor-store.ts',
  'core/sources/garden/commands/record.ts',
  'core/sources/kijito/read/page.ts',
  'core/sources/json-parts.ts',
  'core/state/',
];
/** Rooms of the list in which something reads what others wrote. */
const OUTSIDE: readonly string[] = [
  'app/cli/daemon/post-json.node.ts',
  'app/cli/daemon/shim.ts',
  'app/cli/doctor/port.node.ts',
];

test('B4 JSON that others wrote is parsed by parseJson alone', () => {
  const found = ['app', 'core']
    .flatMap((room) =>
      readdirSync(join(ROOT, room), { recursive: true, encoding: 'utf8' }).map((at) => `${room}/${at}`),
    )
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .filter((path) => /\bJSON\.parse\(/.test(readFileSync(join(ROOT, path), 'utf8')))
    .filter((path) => OUTSIDE.includes(path) || !OWN.some((own) => path.startsWith(own)));
  assert.deepEqual(found, []);
});
