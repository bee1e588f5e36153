import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type StatusRig, statusRig, TOKEN } from '../../test/kit/status-rig.ts';

let rig: StatusRig;
const file = (): string => join(rig.dir, 'config', 'config.json');
before(async () => {
  rig = await statusRig();
  mkdirSync(join(rig.dir, 'config'), { mode: 0o700 });
});
after(() => rig[Symbol.asyncDispose]());

async function ask(body?: object): Promise<{ status: number; text: string }> {
  const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' };
  const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
  const answer = await fetch(`http://127.0.0.1:${rig.port}/api/v1/settings`, init);
  return { status: answer.status, text: await answer.text() };
}

const read = (): Record<string, unknown> => JSON.parse(readFileSync(file(), 'utf8')) as Record<string, unknown>;

describe('the settings', () => {
  test('are listed with what a change needs, and no secret is shown', async () => {
    const secrets = {
      sources: [{ name: 'tickets', is: 'exec', argv: ['/usr/bin/tickets', '--key', 'S3CRET'] }],
      hives: [{ name: 'team', base: 'https://team.example.org', tokenFile: '~/.token' }],
    };
    writeFileSync(file(), JSON.stringify(secrets), { mode: 0o600 });
    const { status, text } = await ask();
    assert.equal(status, 200, text);
    assert.ok(!text.includes('S3CRET'), text);
    const { settings } = JSON.parse(text) as { settings: { key: string; [name: string]: unknown }[] };
    const find = (key: string) => settings.find((setting) => setting.key === key);
    assert.deepEqual(
      [find('port')?.atNextStart, find('port')?.canChange, find('port')?.isDefault],
      [true, false, true],
    );
    assert.deepEqual([find('sound')?.atNextStart, find('sound')?.canChange], [false, true]);
    assert.deepEqual(find('hives')?.value, secrets.hives, 'the path of a token file is none');
  });

  test('are changed and put back to their defaults', async () => {
    writeFileSync(file(), '{}', { mode: 0o600 });
    assert.equal((await ask({ set: { key: 'quietHours', value: { from: '22:00', to: '07:00' } } })).status, 200);
    assert.deepEqual(read(), { quietHours: { from: '22:00', to: '07:00' } });
    assert.equal((await ask({ set: { key: 'quietHours', value: null } })).status, 200);
    assert.deepEqual(read(), {});
  });

  test('rules for notifications are changed, and a wrong one is refused by its number', async () => {
    const value = [
      { persona: 'garden-*', only: ['urgent'], sound: true },
      { persona: 'ada', only: [] },
    ];
    assert.equal((await ask({ set: { key: 'notify', value } })).status, 200);
    for (const [rule, reason] of [
      [{ persona: 'a*a' }, /notify\.2\.persona: must be an id, or the beginning of ids and a \*, not/],
      [{ persona: 'bo', only: ['jokes'] }, /notify\.2\.only\.0: must be one of mail, urgent/],
      [{ persona: 'bo', run: '/bin/sh' }, /notify\.2\.run: unknown key/],
      [{ only: [] }, /notify\.2: must have required property 'persona'/],
    ] as const) {
      const { status, text } = await ask({ set: { key: 'notify', value: [...value, rule] } });
      assert.equal(status, 400, text);
      assert.match(text, reason);
    }
    assert.deepEqual(read(), { notify: value });
    assert.equal((await ask({ set: { key: 'notify', value: null } })).status, 200);
    assert.deepEqual(read(), {});
  });

  test('of a program or a file are not changed here, and no hive gets a token', async () => {
    for (const key of ['opener', 'channels', 'sources', 'tokenFile', 'hives', 'nats', 'mcpOverHttp', 'port']) {
      const { status, text } = await ask({ set: { key, value: null } });
      assert.deepEqual([status, text.includes(`hivebar config set ${key}`)], [400, true], key);
    }
    const stolen = { url: 'http://127.0.0.1:1', name: 'evil', tokenFile: '~/.ssh/id_ed25519' };
    assert.equal((await ask({ addHive: stolen })).status, 400);
    assert.deepEqual(read(), {});
  });

  test('a hive is added with the checks of the command line, and removed', async () => {
    assert.equal((await ask({ addHive: { url: 'https://team.example.org' } })).status, 200);
    assert.deepEqual(read(), { hives: [{ name: 'team', base: 'https://team.example.org' }] });
    for (const [addHive, reason] of [
      [{ url: 'https://team.example.org', name: 'other' }, /team is already/],
      [{ url: 'http://10.0.0.5:7474' }, /cannot derive a name/],
      [{ url: 'file:///etc/passwd', name: 'x' }, /file:/],
      [{ url: 'https://x.example.org', name: 'local' }, /reserved/],
    ] as const) {
      const { status, text } = await ask({ addHive });
      assert.equal(status, 400, text);
      assert.match(text, reason);
    }
    assert.equal((await ask({ removeHive: 'nobody' })).status, 400);
    assert.equal((await ask({ removeHive: 'team' })).status, 200);
    assert.deepEqual(read(), {});
  });

  test('a value that does not fit is refused with the words of config set, and nothing is written', async () => {
    for (const [body, reason] of [
      [{ set: { key: 'quietHours', value: { from: 'soon', to: '07:00' } } }, /quietHours\.from/],
      [{ set: { key: 'sound', value: 'loud' } }, /sound: must be/],
      [{ set: { key: 'sounds', value: true } }, /no setting sounds/],
      [{}, /one change/],
      [{ set: { key: 'sound', value: true }, removeHive: 'x' }, /one change/],
    ] as const) {
      const { status, text } = await ask(body);
      assert.equal(status, 400, text);
      assert.match(text, reason);
    }
    assert.deepEqual(read(), {});
  });
});
