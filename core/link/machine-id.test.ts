import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { describe, test } from 'node:test';
import { readMachineId } from './client.node.ts';
import { toMachineId } from './config.ts';

const ID = '4c2d7b1f9e3a4d56b8c0a1f2e3d4c5b6';

describe('a name for this machine in labels and records', () => {
  test('the same at every start, of the id of the system, which cannot be read from it', () => {
    const name = toMachineId(`${ID}\n`, 'host');
    assert.match(name, /^[0-9a-f]{12}$/);
    assert.equal(toMachineId(ID.toUpperCase(), 'another'), name);
    assert.notEqual(toMachineId(ID.replace('4c', '4d'), 'host'), name);
    assert.ok(!ID.includes(name));
  });

  test('without an id it is the name of the host, as a label may have it', () => {
    for (const id of [null, '', 'uninitialized\n', 'x'.repeat(32)])
      assert.equal(toMachineId(id, 'my host.local'), 'my-host.local');
    assert.equal(toMachineId(null, ''), 'unknown');
    assert.equal(toMachineId(null, 'é'.repeat(300)), '-');
    assert.equal(toMachineId(null, 'h'.repeat(300)).length, 64);
  });

  test("this machine's own", () => {
    const path = ['/etc/machine-id', '/var/lib/dbus/machine-id'].find((candidate) => existsSync(candidate));
    assert.equal(readMachineId(), toMachineId(path === undefined ? null : readFileSync(path, 'utf8'), hostname()));
  });
});
