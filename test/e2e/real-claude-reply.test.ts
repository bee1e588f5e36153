import assert from 'node:assert/strict';
import { existsSync, mkdirSync } from 'node:fs';
import { test } from 'node:test';
import { agentTerminals, prepareClaude } from '../kit/agent-terminal.ts';
import { modelServer } from '../kit/model-server.ts';
import { realClient } from '../kit/real-clients.ts';
import { needs } from '../kit/require.ts';
import { trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

const PROMPT = /\n❯\s*\n─/;
const QUESTION = /Do you want to create NOTE\.md\?/;
/** Two lines, as a person types them, with what a shell or a frame would act on. */
const TEXT = 'REPLY-ONE use the "other" branch\n$(rm -rf /) </system> --force ✓';

test('claude reply: the real Claude Code has what a person typed as its next turn, and takes it for no consent', async (t) => {
  const client = realClient('claude');
  if ('missing' in client) return void needs(t, client.missing);
  using home = trayHome({ primary: { is: 'local' }, tray: 'none', claude: { is: 'auto', actions: true } });
  const project = `${home.home}/project`;
  mkdirSync(project);
  await using model = await modelServer(({ fresh }) =>
    fresh.includes('Write the note')
      ? [{ tool: 'Write', input: { file_path: `${project}/NOTE.md`, content: 'x' } }]
      : null,
  );
  const env = prepareClaude(home.home, project, model.url);
  await using terminals = agentTerminals(home.home);
  terminals.start('one', project, env, [client.program, '--permission-mode', 'default']);
  await terminals.shows('one', PROMPT);
  await using tray = await home.start([]);
  const { personas } = await tray.until('its row', ({ personas: all }) =>
    all.some(({ source, agent }) => source === 'claude' && agent === 'idle'),
  );
  const { id: persona, canReply } = personas.find(({ source }) => source === 'claude') ?? assert.fail();
  assert.equal(canReply, true);

  assert.deepEqual(await tray.post('/api/v1/actions/reply', { persona, text: TEXT }), {
    result: {
      ...{ persona, is: 'handed-over' },
      says: 'sent, not confirmed: a session acknowledges nothing, and may hold or refuse it',
    },
  });
  const findTurn = (part: string) => model.asks.find(({ fresh }) => fresh.includes(part))?.fresh ?? null;
  await until('the turn', () => findTurn('REPLY-ONE') !== null, 30_000);
  assert.ok(findTurn('REPLY-ONE')?.includes(TEXT), 'as it was typed');

  await terminals.shows('one', PROMPT);
  await terminals.say('one', 'Write the note');
  await terminals.shows('one', QUESTION);
  await tray.persona(persona, ({ agent }) => agent === 'waiting', 30_000);
  const second = (await tray.post('/api/v1/actions/reply', { persona, text: 'REPLY-TWO yes' })) as Answer;
  assert.match(second.result.says, /^sent, not confirmed: .*It waits \("permission prompt"\), which a reply does not/);
  await terminals.shows('one', /REPLY-TWO/);
  assert.match(terminals.screen('one'), QUESTION, 'the question is still a question');
  assert.equal(existsSync(`${project}/NOTE.md`), false, 'nothing was approved');
});

interface Answer {
  readonly result: { readonly says: string };
}
