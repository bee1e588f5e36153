import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Fault } from '../../core/model/index.ts';
import { silentLog } from '../../core/ports/index.ts';
import { bindOwnerSocket } from './server.node.ts';

// A socket stands in for the pipe: the same calls, and where a pipe would be in use it is too.
test('a pipe of Windows is bound as it is: no directory is judged, no mode set, nothing taken over', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'hb-pipe-'));
  chmodSync(dir, 0o755);
  const path = join(dir, 'pipe');
  const [first, second] = [createServer(), createServer()];
  await bindOwnerSocket(first, path, silentLog, 'win32');
  const { ino, mode } = statSync(path);
  assert.notEqual(mode & 0o777, 0o600);
  await assert.rejects(
    bindOwnerSocket(second, path, silentLog, 'win32'),
    (error) => error instanceof Fault && error.code === 'port-taken' && error.message.includes(path),
  );
  assert.equal(statSync(path).ino, ino);
  await new Promise((resolve) => first.close(resolve));
  await assert.rejects(
    bindOwnerSocket(second, join(dir, 'no', 'pipe'), silentLog, 'win32'),
    (error) => error instanceof Fault && error.code === 'unwritable',
  );
  rmSync(dir, { recursive: true });
});
