import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { programFiles } from './source-file.ts';

const ROOT = join(import.meta.dirname, '..', '..');
/** Where the real calls stand. */
const PORT = 'core/ports/files.node.ts';

function found(pattern: RegExp): readonly string[] {
  return programFiles()
    .map(({ path }) => path)
    .filter((path) => /^(app|core)\/.*\.ts$/.test(path) && path !== PORT && !path.endsWith('.test.ts'))
    .filter((path) => pattern.test(readFileSync(join(ROOT, path), 'utf8')));
}

test('G5 every rename goes through the port of the disk, which is patient', () => {
  assert.deepEqual(found(/\brenameSync\b|import \{[^}]*\brename\b[^}]*\} from 'node:fs|fs\.(promises\.)?rename\b/), []);
});

test('F9 nothing makes directories with the recursive call of Node', () => {
  assert.deepEqual(found(/mkdir(Sync)?\([^)]*recursive: true/), []);
});

/** Each waits for a constant of some seconds at most. */
const SHORT_TIMERS: readonly string[] = [
  'app/status/connections.node.ts',
  'app/cli/process.node.ts',
  'core/sources/kijito/doctor.node.ts',
  'app/cli/doctor/port.node.ts',
  'app/cli/hook-now.node.ts',
  'app/cli/hook/stdin.node.ts',
  'app/hook/opencode-plugin.ts',
  'app/host/poke-signal.node.ts',
  'core/daemon/log-outlets.node.ts',
  'core/daemon/log-outlets.node.ts',
  'core/events/file-changes.node.ts',
  'core/inbox/gates/git.node.ts',
  'core/inbox/relay/link.node.ts',
  'core/ports/clock.node.ts',
];

test('F10 a timer that may be longer than Node can wait is one of the clock', () => {
  assert.deepEqual(
    found(/(?<![.\w])set(Timeout|Interval)\(/).filter((path) => !SHORT_TIMERS.includes(path)),
    [],
  );
});
