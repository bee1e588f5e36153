import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { commandLine } from '../kit/command-line.ts';
import { connectMcp, ERAS, type McpClientOptions, type ToolAnswer } from '../kit/mcp-client.ts';
import { type TrayHome, trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

const ADA = { HIVEBAR_PERSONA: 'ada' };
const QUESTION = {
  question: 'Deploy?',
  options: [
    { id: 'y', label: 'Yes' },
    { id: 'n', label: 'No, not today' },
  ],
};

async function run(home: TrayHome, ...args: readonly string[]): Promise<string> {
  const { code, out, err } = await commandLine(args, home.env);
  assert.equal(code, 0, err);
  return out;
}

async function readDecision(home: TrayHome, id: number): Promise<readonly unknown[]> {
  const { state, choice, by } = JSON.parse(await run(home, 'decision', 'show', String(id), '--json')) as {
    readonly state: string;
    readonly choice: string | null;
    readonly by: string | null;
  };
  return [state, choice, by];
}

const countPending = async (home: TrayHome): Promise<number> =>
  (JSON.parse(await run(home, 'inbox', 'list', 'ada', '--pending', '--json')) as readonly unknown[]).length;

/** One question to a client with this person at it. */
async function ask(
  home: TrayHome,
  era: McpClientOptions['era'],
  person: McpClientOptions['person'],
): Promise<ToolAnswer> {
  await using mcp = await connectMcp(home, { env: ADA, ...(era && { era }), ...(person && { person }) });
  const answer = await mcp.call('decision_ask', QUESTION);
  assert.equal(answer.isError, false, answer.text);
  return answer;
}

for (const era of ERAS)
  describe(`decision_ask, to a client with forms, as in ${era}`, () => {
    test('given a person who answers in the form, then the call returns the answer, the decision is closed and its mail is read', async () => {
      using home = trayHome();
      const forms: unknown[] = [];
      const answer = await ask(home, era, async ({ message, requestedSchema }) => {
        forms.push(message, Object.values(requestedSchema.properties)[0]);
        return { action: 'accept', content: { answer: 'n' } };
      });
      assert.deepEqual([answer.data.id, answer.data.answer], [1, 'n']);
      assert.match(
        answer.text,
        /^Decision 1 is closed\. Chosen: n\.\n[\s\S]*<item [^>]*from="terminal"[\s\S]*Chosen: n \(No, not today\)/,
      );
      assert.deepEqual(await readDecision(home, 1), ['resolved', 'n', 'terminal']);
      const options = { type: 'string', title: 'Answer', enum: ['y', 'n'], enumNames: ['Yes', 'No, not today'] };
      assert.deepEqual(forms, ['Deploy?', options]);
      await until('its mail is read', async () => (await countPending(home)) === 0);
    });

    test('given a form that is declined, closed or answered with something else, then one decision stays open and its answer comes as mail', async () => {
      using home = trayHome();
      const answers = [
        { action: 'decline' },
        { action: 'cancel' },
        { action: 'accept', content: { answer: 'maybe' } },
        { action: 'accept', content: {} },
      ] as const;
      for (const [at, given] of answers.entries()) {
        const answer = await ask(home, era, async () => given);
        assert.deepEqual(answer.data, { id: at + 1 });
        assert.match(answer.text, /The answer comes as mail/);
        assert.deepEqual(await readDecision(home, at + 1), ['open', null, null]);
      }
      await run(home, 'decision', 'respond', '2', '--select', 'y', '--by', 'me');
      assert.deepEqual(await readDecision(home, 2), ['resolved', 'y', 'me']);
      assert.equal(await countPending(home), 1);
    });

    test('given somebody who answers elsewhere while the form is open, then that answer counts, and the one in the form changes nothing', async () => {
      using home = trayHome();
      const answer = await ask(home, era, async (_, signal) => {
        await run(home, 'decision', 'respond', '1', '--select', 'y', '--by', 'me');
        // Before 2026-07-28 the server takes the form back.
        if (era === '2025-11-25') await new Promise((resolve) => signal.addEventListener('abort', resolve));
        return { action: 'accept', content: { answer: 'n' } };
      });
      assert.deepEqual([answer.data.id, answer.data.answer], [1, 'y']);
      assert.deepEqual(await readDecision(home, 1), ['resolved', 'y', 'me']);
    });

    test('given a client without forms, then the call returns at once', async () => {
      using home = trayHome();
      assert.deepEqual((await ask(home, era, undefined)).data, { id: 1 });
      assert.deepEqual(await readDecision(home, 1), ['open', null, null]);
    });
  });

test('given a client that cancels the call, then its form goes and the decision stays open', async () => {
  using home = trayHome();
  const shown = Promise.withResolvers<AbortSignal>();
  await using mcp = await connectMcp(home, {
    env: ADA,
    person: async (_, signal) => {
      shown.resolve(signal);
      return await new Promise(() => {});
    },
  });
  const over = new AbortController();
  const asked = mcp.call('decision_ask', QUESTION, { signal: over.signal });
  const form = await shown.promise;
  over.abort();
  await assert.rejects(asked);
  await until('the form is gone', () => form.aborted);
  assert.deepEqual(await readDecision(home, 1), ['open', null, null]);
});

test('given a state that a client made up, then nothing is answered', async () => {
  using home = trayHome();
  await run(home, 'decision', 'create', '--as', 'ada', '--option', 'y=Yes', 'Delete it?');
  await using mcp = await connectMcp(home, {
    era: '2026-07-28',
    env: ADA,
    person: async () => ({ action: 'decline' }),
  });
  for (const requestState of ['{"decision":1}', 'v1.eyJwIjp7ImRlY2lzaW9uIjoxfX0.AAAA']) {
    const params = { name: 'decision_ask', arguments: QUESTION, requestState };
    const repeated = { ...params, inputResponses: { form: { action: 'accept', content: { answer: 'y' } } } };
    await assert.rejects(mcp.client.callTool(repeated as never));
  }
  assert.deepEqual(await readDecision(home, 1), ['open', null, null]);
});
