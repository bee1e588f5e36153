import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { MailEvent } from '../events/index.ts';
import { realSpawn, type Spawn, silentLog } from '../ports/index.ts';
import { createExecSink, refuseShellCommand, toShellCommand } from './exec.ts';
import type { Sink } from './sink.ts';

const never = new AbortController().signal;
let dir: string;
beforeEach(() => {
  dir = fs.mkdtempSync(join(tmpdir(), 'hivebar-exec-'));
});
afterEach(() => fs.rmSync(dir, { recursive: true, force: true }));

function mail(id: number, content = `mail ${id}`): MailEvent {
  return {
    event: 'new',
    source: 'kijito-inbox',
    ts: '2026-06-20T10:00:00.000000+00:00',
    id,
    from: 'bo',
    created: '',
    content,
    event_id: `ada:new:${id}`,
    wake_class: 'mail',
  };
}

function createSink(command: string, spawn: Spawn = realSpawn, warn: (line: string) => void = () => {}): Sink<unknown> {
  const env = { PATH: process.env.PATH, OUT: join(dir, 'out'), KIJITOMON_TOKEN: 'secret' };
  return createExecSink({ command, spawn, env, os: process.platform, log: { ...silentLog, warn } });
}

const out = (): string => (fs.existsSync(join(dir, 'out')) ? fs.readFileSync(join(dir, 'out'), 'utf8') : '');

/** The real spawn with another time limit, so that a test need not wait ten seconds. */
const hasty = (timeoutMs: number): Spawn => ({
  run: (command, signal) => realSpawn.run({ ...command, timeoutMs }, signal),
});

test('the command runs once an event, one after the other, in order', async () => {
  const sink = createSink('sleep 0.0$((4 - KIJITOMON_ID)); echo "$KIJITOMON_ID $KIJITOMON_CONTENT" >> "$OUT"');
  assert.deepEqual(await sink.open(), { eventIds: new Set() });
  const both = [sink.take([mail(1), mail(2)], null, never), sink.take([mail(3)], null, never)];
  assert.deepEqual(await Promise.all(both), [{ is: 'all' }, { is: 'all' }]);
  assert.equal(out(), '1 mail 1\n2 mail 2\n3 mail 3\n');
});

test('trap 1: exit 0 is the acknowledgement, trap 2: the batch stops at the first failure, which names code, event and last words', async () => {
  const output: string[] = [];
  const sink = createSink(
    'echo $KIJITOMON_ID >> "$OUT"; echo why >&2; test $KIJITOMON_ID -ne 2 || exit 3',
    realSpawn,
    (l) => output.push(l),
  );
  for (let round = 0; round < 2; round += 1) {
    const ack = await sink.take([mail(1), mail(2), mail(3)], null, never);
    assert.ok(ack.is === 'stopped' && ack.count === 1);
    assert.equal(ack.fault.code, 'exec-failed');
    assert.match(ack.fault.message, /exit 3 for ada:new:2 \(why\)/);
  }
  assert.equal(out(), '1\n2\n1\n2\n');
  assert.equal(output.length, 1, 'the same failure again is not said again');
});

test('trap 9: a command that keeps failing is told once, whatever it says each time, and once more after it succeeded', async () => {
  const output: string[] = [];
  const command = 'echo $KIJITOMON_ID at $$ >&2; test ! -e "$OUT" && exit 3; true';
  const sink = createSink(command, realSpawn, (line) => output.push(line));
  for (const id of [1, 1, 2]) await sink.take([mail(id)], null, never);
  assert.equal(output.length, 1, output.join('\n'));
  fs.writeFileSync(join(dir, 'out'), '');
  assert.deepEqual(await sink.take([mail(1)], null, never), { is: 'all' });
  fs.rmSync(join(dir, 'out'));
  await sink.take([mail(2)], null, never);
  assert.equal(output.length, 2, output.join('\n'));
});

test('text of a message reaches the command as it is and is never run', async () => {
  const hostile = `'; touch ${join(dir, 'PWNED')}; ' $(touch ${join(dir, 'PWNED')}) \`touch ${join(dir, 'PWNED')}\` "\\`;
  const sink = createSink('printf %s "$KIJITOMON_CONTENT" > "$OUT"');
  assert.deepEqual(await sink.take([mail(1, hostile)], null, never), { is: 'all' });
  assert.equal(out(), hostile);
  assert.ok(!fs.existsSync(join(dir, 'PWNED')));
});

test('a message that no environment could carry as it is wedges nothing', async () => {
  const sink = createSink('printf %s "$KIJITOMON_CONTENT" | wc -c >> "$OUT"');
  const events = [mail(1, 'a\0b'), mail(2, '\ud800'), mail(3, 'x'.repeat(1_000_000))];
  assert.deepEqual(await sink.take(events, null, never), { is: 'all' });
  assert.deepEqual(out().split('\n').map(Number).slice(0, 3), [2, 3, 100_000]);
});

test('the token is not in the environment of the command', async () => {
  await createSink('env > "$OUT"').take([mail(1)], null, never);
  assert.match(out(), /KIJITOMON_ID=1/);
  assert.doesNotMatch(out(), /secret/);
});

test('D9: at the time limit the command and its children are killed', async () => {
  const sink = createSink('(sleep 0.6; echo child >> "$OUT") & sleep 30', hasty(150));
  const ack = await sink.take([mail(1)], null, never);
  assert.ok(ack.is === 'stopped' && ack.fault.code === 'exec-timeout', JSON.stringify(ack));
  await wait(800);
  assert.equal(out(), '');
});

test('the limit is 10 seconds', async () => {
  const limits: number[] = [];
  const spawn: Spawn = {
    run: async (command) => {
      limits.push(command.timeoutMs);
      return { is: 'exited', code: 0, stderr: '' };
    },
  };
  await createSink('true', spawn).take([mail(1)], null, never);
  assert.deepEqual(limits, [10_000]);
});

test('an abort ends the running command and starts no further one', async () => {
  const stop = new AbortController();
  const taking = createSink('echo $KIJITOMON_ID >> "$OUT"; sleep 30').take([mail(1), mail(2)], null, stop.signal);
  while (out() === '') await wait(5);
  stop.abort();
  const ack = await taking;
  assert.ok(ack.is === 'stopped' && ack.count === 0);
  assert.equal(out(), '1\n');
  const after = await createSink('echo $KIJITOMON_ID >> "$OUT"').take([mail(3)], null, stop.signal);
  assert.ok(after.is === 'stopped' && after.count === 0);
  assert.equal(out(), '1\n');
});

test('G3 on Windows the command is one command line for cmd.exe, with its quotes as they are', () => {
  const command = '"C:\\Program Files\\notify.exe" --text "a b" & exit /b 3';
  const run = toShellCommand(command, { COMSPEC: 'D:\\Windows\\System32\\cmd.exe' }, 'win32');
  assert.equal(run.file, 'D:\\Windows\\System32\\cmd.exe');
  assert.equal(run.windowsVerbatimArguments, true);
  // What Node hands to CreateProcess: the arguments with spaces between them.
  assert.equal(run.args.join(' '), `/d /v:on /s /c "${command}"`);
  assert.equal(toShellCommand('x', { ComSpec: 'cmd.exe' }, 'win32').file, 'C:\\Windows\\System32\\cmd.exe');
  assert.deepEqual(toShellCommand('x "y"', {}, 'linux').args, ['-c', 'x "y"']);
});

test('G3 on Windows a command in which cmd.exe would replace %KIJITOMON_FROM% before it parses is refused', () => {
  for (const command of ['echo %KIJITOMON_FROM%>>s', 'echo "%kijitomon_content:~0,9%"', 'call echo %%KIJITOMON_ID%%'])
    assert.match(refuseShellCommand(command, 'win32') ?? '', /write !KIJITOMON_\w+! instead/i);
  assert.equal(refuseShellCommand('echo !KIJITOMON_FROM!>> "%USERPROFILE%\\senders"', 'win32'), null);
  assert.equal(refuseShellCommand('echo %KIJITOMON_FROM%', 'linux'), null);
});
