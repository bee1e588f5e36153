import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createAgmsgHome } from '../../../test/kit/agmsg-store.ts';
import { calledProgram } from '../../../test/kit/called-program.ts';
import { Fault } from '../../model/index.ts';
import { realClock, silentLog } from '../../ports/index.ts';
import { createRealDisk } from '../../state/index.ts';
import { openAgmsg } from './open.ts';

const never = new AbortController().signal;
const TEXT = '--stdin "x"\n$(rm) ✓\n';

const isFault = (code: string, text: RegExp) => (error: unknown) =>
  error instanceof Fault && error.code === code && text.test(error.message);

test('agmsg reply: send.sh of the installation gets the text on its stdin, from the member human; it is stored, not delivered', async () => {
  using agmsg = createAgmsgHome();
  mkdirSync(join(agmsg.root, 'scripts'));
  using program = calledProgram('send.sh', join(agmsg.root, 'scripts', 'send.sh'));
  agmsg.writeTeam('crew', ['alice']);
  const host = {
    ...{ env: program.env, disk: createRealDisk(silentLog), clock: realClock, log: silentLog },
    contentChars: 220,
  };
  const open = (actions: boolean) =>
    openAgmsg({ agmsg: { is: 'auto', roots: [agmsg.root], actions } }, host)?.hives[0]?.source ?? assert.fail();
  await using source = open(true);
  const reply = async (id: string, text = TEXT, message: string | null = null) => {
    const persona = (await source.personas(never)).find((each) => each.id === id) ?? assert.fail(id);
    assert.ok(source.reply !== undefined);
    return await source.reply(persona, { text, message, subject: null }, never);
  };
  const join1 = join(agmsg.root, 'scripts', 'join.sh');
  await assert.rejects(
    reply('agmsg-alice'),
    isFault('usage', new RegExp(`has no member human: run ${join1} crew human other / once$`)),
  );
  assert.equal(program.args(), null, 'what is refused here runs nothing');
  agmsg.writeTeam('crew', ['alice', 'human']);
  assert.deepEqual(await reply('agmsg-alice'), {
    is: 'stored',
    says: 'stored, not delivered: the agent has to look',
  });
  assert.deepEqual(program.args(), ['crew', 'human', 'alice', '--stdin']);
  assert.equal(program.input(), TEXT, 'as it was typed');
  await assert.rejects(reply('agmsg-human'), isFault('usage', /human is you/));
  await assert.rejects(reply('agmsg-alice', 'x', '7'), isFault('usage', /neither replies to one message nor subjects/));
  program.end(3, 'send: no such agent\n');
  await assert.rejects(
    reply('agmsg-alice'),
    isFault('exec-failed', /^send\.sh of agmsg ended with 3: send: no such agent$/),
  );
  await using quiet = open(false);
  assert.equal(quiet.reply, undefined, 'without the setting there is no way to reply');
});
