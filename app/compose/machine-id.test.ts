import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { describe, test } from 'node:test';
import { ownMachineId } from './machine-id.node.ts';
import { machineIdOf } from './machine-id.ts';

const ID = '4c2d7b1f9e3a4d56b8c0a1f2e3d4c5b6';

describe('a name for this machine in labels and records', () => {
  test('the same at every start, of the id of the system, which can not be read from it', () => {
    const name = machineIdOf(`${ID}\n`, 'host');
    assert.match(name, /^[0-9a-f]{12}$/);
    assert.equal(machineIdOf(ID.toUpperCase(), 'another'), name);
    assert.notEqual(machineIdOf(ID.replace('4c', '4d'), 'host'), name);
    assert.ok(!ID.includes(name));
  });

  test('without an id it is the name of the host, as a label may have it', () => {
    for (const id of [null, '', 'uninitialized\n', 'x'.repeat(32)])
      assert.equal(machineIdOf(id, 'my host.local'), 'my-host.local');
    assert.equal(machineIdOf(null, ''), 'unknown');
    assert.equal(machineIdOf(null, 'é'.repeat(300)), '-');
    assert.equal(machineIdOf(null, 'h'.repeat(300)).length, 64);
  });

  test("this machine's own", () => {
    const path = ['/etc/machine-id', '/var/lib/dbus/machine-id'].find((one) => existsSync(one));
    assert.equal(ownMachineId(), machineIdOf(path === undefined ? null : readFileSync(path, 'utf8'), hostname()));
  });
});
