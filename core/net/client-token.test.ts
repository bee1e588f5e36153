import assert from 'node:assert/strict';
import { chmodSync, rmSync } from 'node:fs';
import { test } from 'node:test';
import { type FakeHive, fakeHive } from '../../test/kit/fake-hive.ts';
import { type Scratch, scratch } from '../../test/kit/scratch.ts';
import { Fault } from '../model/index.ts';
import { silentLog } from '../ports/index.ts';
import { AS_WRITTEN, createHttpClient, createTokenFileCredentials, type HttpClient } from './index.ts';

const never = new AbortController().signal;
const SCOPE = { is: 'source', key: 'team' } as const;

/** A client whose token is in `token`, and a clock that goes only when it is told. */
function rig(hive: FakeHive, files: Scratch) {
  const warnings: string[] = [];
  let now = 0;
  const path = files.at('token');
  const credential = createTokenFileCredentials({
    path,
    scope: SCOPE,
    clock: { monotonic: () => now },
    log: { ...silentLog, warn: (line) => void warnings.push(line) },
  });
  const client: HttpClient = createHttpClient({
    url: hive.url,
    policy: AS_WRITTEN,
    scope: SCOPE,
    userAgent: 'hivebar/0',
    credential,
  });
  const outcome = async (): Promise<string> => {
    try {
      await client.get('/api/personas', never);
      return 'answered';
    } catch (error) {
      assert.ok(error instanceof Fault, String(error));
      assert.deepEqual(error.scope, SCOPE);
      assert.doesNotMatch(error.message, /s3cret/);
      return `${error.code}: ${error.message}`;
    }
  };
  const later = (ms: number): void => {
    now += ms;
  };
  return { client, path, warnings, outcome, later };
}

test('a token file that is not there yet is a fault of its hive that names it, and is used when it comes', async () => {
  using files = scratch();
  await using hive = await fakeHive({ personas: ['ada'], token: 's3cret1' });
  const { client, path, outcome, later } = rig(hive, files);
  await using _ = client;
  assert.match(await outcome(), /^unreadable: token file ".*token" cannot be read \(ENOENT/);
  files.write('token', 's3cret1\n');
  assert.match(await outcome(), /^unreadable/, 'looked at once a second');
  assert.equal(hive.requests.length, 0, 'nothing is asked without the token');
  later(1000);
  assert.equal(await outcome(), 'answered');
  rmSync(path);
  later(5000);
  assert.equal(await outcome(), 'answered', 'the hive takes it still');
});

test('a 401 reads the token file again, and the same request is answered with the new token', async () => {
  using files = scratch();
  await using hive = await fakeHive({ personas: ['ada'], token: 's3cret1' });
  files.write('token', 's3cret1');
  const { client, path, outcome, later } = rig(hive, files);
  await using _ = client;
  assert.equal(await outcome(), 'answered');
  hive.setToken('s3cret2');
  later(1000);
  assert.equal(
    await outcome(),
    `unauthorized: ${hive.url}/api/personas: answered 401 (unauthorized) to the token in "${path}"`,
  );
  files.write('token', 's3cret2');
  later(1000);
  assert.equal(await outcome(), 'answered');
  assert.deepEqual(
    hive.requests.map(({ headers }) => headers.authorization),
    ['s3cret1', 's3cret1', 's3cret1', 's3cret2'].map((token) => `Bearer ${token}`),
  );
});

test('a 403 reads it again too; a file that was taken away says so', async () => {
  using files = scratch();
  await using hive = await fakeHive({ personas: ['ada'] });
  files.write('token', 's3cret1');
  const { client, path, outcome, later } = rig(hive, files);
  await using _ = client;
  hive.fail({ is: 'status', status: 403 });
  assert.match(await outcome(), /^unauthorized: .*answered 403 \(forbidden\) to the token in/);
  rmSync(path);
  later(1000);
  assert.match(await outcome(), /^unauthorized/);
  assert.match(await outcome(), /^unreadable: .*ENOENT/);
  files.write('token', 's3cret2');
  await hive.heal();
  later(1000);
  assert.equal(await outcome(), 'answered');
});

test('a hundred refusals at once read the file once, and none of them asks twice with the same token', async () => {
  using files = scratch();
  await using hive = await fakeHive({ personas: ['ada'], token: 's3cret2' });
  files.write('token', 's3cret1');
  const { client, outcome, later } = rig(hive, files);
  await using _ = client;
  await outcome();
  later(1000);
  const before = hive.requests.length;
  const all = await Promise.all(Array.from({ length: 100 }, outcome));
  assert.ok(all.every((output) => output.startsWith('unauthorized')));
  assert.equal(hive.requests.length - before, 100);
  files.write('token', 's3cret2');
  assert.match(await outcome(), /^unauthorized/, 'read within this second already');
  later(1000);
  assert.deepEqual(new Set(await Promise.all(Array.from({ length: 100 }, outcome))), new Set(['answered']));
});

test('D22: a token file that others may read is warned of with the name of its hive, and once', async () => {
  using files = scratch();
  await using hive = await fakeHive({ personas: ['ada'], token: 's3cret2' });
  files.write('token', 's3cret1');
  chmodSync(files.at('token'), 0o640);
  const { client, path, warnings, outcome, later } = rig(hive, files);
  await using _ = client;
  for (let n = 0; n < 5; n += 1) {
    await outcome();
    later(1000);
  }
  assert.deepEqual(warnings, [`team: token file "${path}" is open to other users (mode 640): chmod 600 it`]);
});
