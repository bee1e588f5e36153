import assert from 'node:assert/strict';
import { test } from 'node:test';
import { calledProgram } from '../../../test/kit/called-program.ts';
import { createCodexHome } from '../../../test/kit/codex-queue.ts';
import { Fault } from '../../model/index.ts';
import { realClock, silentLog } from '../../ports/index.ts';
import { createRealDisk } from '../../state/index.ts';
import { openCodex } from './open.ts';

const never = new AbortController().signal;
const TEXT = '--help "x"\n$(rm) ✓';

const isFault = (code: string, text: RegExp) => (error: unknown) =>
  error instanceof Fault && error.code === code && text.test(error.message);

/** The source as the tray process opens it. */
async function openRig(home: string, env: Readonly<Record<string, string>>, actions = true) {
  const host = {
    ...{ env, disk: createRealDisk(silentLog), clock: realClock, log: silentLog, contentChars: 220 },
    ...{ put: () => {}, findSessionPersona: () => null },
  };
  const opened = openCodex({ codex: { is: 'auto', home, actions } }, host) ?? assert.fail();
  const source = opened.hives[0]?.source ?? assert.fail();
  const [persona] = await source.personas(never);
  return {
    source,
    async reply(text: string, message: string | null = null) {
      assert.ok(source.reply !== undefined && persona !== undefined);
      return await source.reply(persona, { text, message, subject: null }, never);
    },
    [Symbol.asyncDispose]: async () => await source[Symbol.asyncDispose](),
  };
}

test('codex reply: the text is one argument of codex queue, in the folder that is watched; it is stored, not delivered', async () => {
  using codex = createCodexHome();
  using program = calledProgram('codex');
  const thread = codex.addThread('ada');
  codex.enqueue(thread, 'one');
  await using rig = await openRig(codex.home, { ...program.env, CODEX_HOME: '/elsewhere' });
  const result = await rig.reply(TEXT);
  assert.equal(result.is, 'stored');
  assert.match(result.says, /^stored, not delivered: it lies in the queue of the thread/);
  assert.deepEqual(program.args(), ['queue', '--thread', thread, `--message=${TEXT}`]);
  assert.equal(program.variable('CODEX_HOME'), codex.home);
  await assert.rejects(rig.reply('x', '7'), isFault('usage', /no reply to one message: leave 7 out/));
  await assert.rejects(rig.reply('x'.repeat(120_000)), isFault('usage', /120000 fit into one argument of codex/));
  assert.deepEqual(program.args()?.at(-1), `--message=${TEXT}`, 'what is refused here runs nothing');
});

test('codex reply: exit 1 is told apart by what codex wrote', async () => {
  using codex = createCodexHome();
  using program = calledProgram('codex');
  codex.enqueue(codex.addThread('ada'), 'one');
  await using rig = await openRig(codex.home, program.env);
  const ends = async (stderr: string, code: string, text: RegExp) => {
    program.end(1, stderr);
    await assert.rejects(rig.reply('hi'), isFault(code, text));
  };
  // As 0.171.0 writes it, with its warnings and its stack.
  const none =
    'WARNING: proceeding\nError: failed to queue session message: no rollout found for thread id 01 (code -32603)\n\nStack\n';
  await ends(none, 'usage', /^codex queue ended with 1: Error: failed .*no rollout found.*no such thread any more/);
  await ends('Error: No active session found\n', 'usage', /no such thread any more: codex resume lists/);
  await ends('Error: attempt to write a readonly database\n', 'unwritable', /may not write in .*outside of a sandbox/);
  await ends(
    'Error: something else\u001b[2J\n',
    'exec-failed',
    /^codex queue ended with 1: Error: something else \[2J$/,
  );
});

test('codex reply: without codex on PATH it says so, and without the setting there is no way to reply', async () => {
  using codex = createCodexHome();
  codex.enqueue(codex.addThread('ada'), 'one');
  await using rig = await openRig(codex.home, { PATH: '/nowhere' });
  await assert.rejects(rig.reply('hi'), isFault('exec-failed', /no program codex on PATH of Hivebar: install Codex/));
  await using quiet = await openRig(codex.home, {}, false);
  assert.equal(quiet.source.reply, undefined);
});
