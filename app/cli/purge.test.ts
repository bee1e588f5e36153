import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { planPurge } from './purge.node.ts';

test('a purge removes every file and folder of the state that docs/contract/files.md names, and nothing else of a HIVEBAR_HOME', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/contract/files.md'), 'utf8');
  const named = new Set([...page.matchAll(/^\| `STATE\/([^/`]+)/gm)].map(([, name = '']) => name));
  assert.ok(named.size > 12, [...named].join(' '));
  const folder = mkdtempSync(join(tmpdir(), 'hb-purge-'));
  try {
    for (const name of [...named, 'config', 'run']) mkdirSync(join(folder, name));
    writeFileSync(join(folder, 'notes.txt'), 'of somebody else');
    const { goes, stays } = planPurge({ env: { HIVEBAR_HOME: folder } });
    assert.deepEqual(stays, [join(folder, 'notes.txt')]);
    assert.equal(goes.length, named.size + 2);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
