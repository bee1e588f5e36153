import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { test } from 'node:test';
import { agentTerminals, prepareClaude } from '../kit/agent-terminal.ts';
import { modelServer } from '../kit/model-server.ts';
import { realClient } from '../kit/real-clients.ts';
import { needs } from '../kit/require.ts';
import { trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

const PROMPT = /\n❯\s*\n─/;
const MESSAGES = 8;

test('a team of the real Claude Code: mail that lies for a moment is told once, in its order, and then read', async (t) => {
  const client = realClient('claude');
  if ('missing' in client) return void needs(t, client.missing);
  using home = trayHome();
  const project = `${home.home}/project`;
  mkdirSync(project);
  let sent = 0;
  const member = { description: 'reports', prompt: 'ANA-TASK', subagent_type: 'general-purpose', name: 'ana' };
  await using model = await modelServer(({ fresh, first }) => {
    if (first.includes('ANA-TASK')) {
      if (sent === MESSAGES) return null;
      sent += 1;
      const input = { to: 'team-lead', summary: `report ${sent}`, message: `REPORT ${sent}` };
      return [{ tool: 'SendMessage', input }];
    }
    return fresh.includes('Start the team') ? [{ tool: 'Agent', input: member }] : null;
  });
  const teams = { CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: '1' };
  const env = { ...prepareClaude(home.home, project, model.url), ...teams };
  await using tray = await home.start(['--no-tray', '--no-notifications']);
  await using terminals = agentTerminals(home.home);
  terminals.start('one', project, env, [client.program, '--permission-mode', 'default']);
  await terminals.shows('one', PROMPT);
  await terminals.say('one', 'Start the team');
  const { personas } = await tray.until('the member', ({ personas }) => personas.some(({ id }) => id.endsWith('-ana')));
  const lead = personas.find(({ id, source }) => source === 'claude' && !id.endsWith('-ana'))?.id ?? '';
  assert.deepEqual(personas.map(({ id }) => id).toSorted(), [lead, `${lead}-ana`]);
  await until('the lead takes the last', () => model.asks.some(({ fresh }) => fresh.includes(`REPORT ${MESSAGES}`)));
  const heard = (event: string): readonly unknown[] =>
    home.events(lead).flatMap((line) => (line.event === event ? [line.subject] : []));
  const reports = Array.from({ length: MESSAGES }, (_, n) => `report ${n + 1}`);
  await until(
    () => `read: ${heard('read').join(', ')}\nnew: ${heard('new').join(', ')}`,
    () => heard('read').length >= MESSAGES,
  );
  assert.deepEqual(heard('new'), reports);
  assert.deepEqual(heard('read').toSorted(), reports);
  const [first] = home.events(lead).filter(({ event }) => event === 'new');
  assert.deepEqual([first?.from, first?.content], ['ana', 'REPORT 1']);
  await tray.persona(lead, ({ agent, unread }) => agent === 'idle' && unread === 0);
});
