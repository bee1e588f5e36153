import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import type { Agent } from '../kit/agent.ts';
import {
  type AgentOutlook,
  accepted,
  arrived,
  awaits,
  came,
  describeEvent,
  moment,
  silent,
  write,
  writeAll,
} from '../kit/agent-outlook.ts';
import { type ContextItem, formatFrame } from '../kit/hook-output.ts';
import { trustAll } from '../kit/hooks.ts';
import { NO_NATS_SERVER } from '../kit/nats-server.ts';
import { needs } from '../kit/require.ts';
import { type Break, oneMachine, readMark, type Stage, twoMachines } from '../kit/two-agents.ts';

const INSTALLED: Readonly<Record<Agent['harness'], readonly string[]>> = {
  claude: ['Claude Code: installed for ada in '],
  codex: ['Codex: installed for bo in '],
};
const AGAIN = '  restart running sessions if they do not use the hooks; the previous settings are in *.before-hivebar';

describe('two agents, by the real commands and the installed hooks', { concurrency: 2 }, () => {
  test('seed 19: on one machine, whose tray process is killed in the middle', async () => {
    await using stage = await oneMachine();
    await scenario(stage);
  });

  test('seed 19: on two machines over a nats-server that is killed in the middle, and then one of the tray processes', async (t) => {
    if (needs(t, NO_NATS_SERVER)) return;
    await using stage = await twoMachines();
    await scenario(stage);
  });
});

async function scenario(stage: Stage): Promise<void> {
  const ada = awaits(stage.ada);
  const bo = awaits(stage.bo);
  for (const { agent } of [ada, bo]) await install(agent);
  for (const { agent } of [ada, bo]) await announce(agent);

  await hasNothing(ada);
  await hasNothing(bo);
  await write(stage, bo, ada, { type: 'agent', source: 'bo', priority: 2, content: 'please review <my> branch' });
  await writeAll(stage, bo, ada, { type: 'system', source: 'bo', priority: 2, content: 'maintenance in 10 minutes' });
  await arrived(ada);
  await describeEvent(ada, 'SessionStart', { source: 'startup' });
  await silent(bo, 'SessionStart', { source: 'startup' }); // its own word to everyone is none to itself

  await write(stage, bo, ada, { type: 'event', source: 'bo', priority: 3, content: 'not for a tool' });
  await write(stage, bo, ada, { type: 'alert', source: 'bo', priority: 0, content: 'the build is red' });
  await arrived(ada);
  await describeEvent(ada, 'PostToolUse', { tool_name: 'Bash' });
  await silent(ada, 'PostToolUse', { tool_name: 'Bash' });
  await silent(ada, 'PreCompact', { trigger: 'auto' });

  await write(stage, bo, ada, { type: 'agent', source: 'bo', priority: 2, content: 'while you are held' });
  await arrived(ada);
  await asks(ada, false);
  await write(stage, ada, bo, { type: 'agent', source: 'ada', priority: 4, content: 'for when you are held' });
  await arrived(bo);
  await asks(bo, true);
  for (const breakage of stage.breaks) await broken(stage, breakage, ada, bo);
  await committed(bo);
  for (const agent of [ada, bo]) await shownOnce(agent);
  await ends(ada);
}

/** The hooks stand in the settings; a second install changes nothing. */
async function install(agent: Agent): Promise<void> {
  const { harness, persona, settings } = agent;
  const args = ['hook', 'install', '--harness', harness, '--persona', persona];
  const [first = ''] = INSTALLED[harness];
  const isTrusted = harness !== 'codex';
  // Without events that the program is not known to know, because none may be on PATH here.
  const isWhole = (line: string): boolean => !line.startsWith('  without ');
  const [installed, again, ...more] = (await agent.hivebar(args, isTrusted ? 0 : 1)).filter(isWhole);
  assert.deepEqual([installed, again, more.length], [`${first}${settings}`, AGAIN, isTrusted ? 0 : 1]);
  if (!isTrusted) {
    assert.match(more.join(), /^ {2}installed, not trusted: run \/hooks in Codex \(.*config\.toml: hooks\.state\./);
    writeFileSync(join(dirname(settings), 'config.toml'), trustAll(settings)); // as its user does there
  }
  const before = readFileSync(settings);
  const repeated = (await agent.hivebar(args)).filter(isWhole);
  assert.deepEqual(repeated, [`${first.replace('installed', 'installed already')}${settings}`]);
  assert.deepEqual(readFileSync(settings), before);
  const label = harness === 'claude' ? 'Claude Code ' : 'Codex       ';
  const status = await agent.hivebar(['hook', 'status', '--harness', harness]);
  assert.deepEqual(status, [`${label} installed   ${persona}  ${settings}`]);
}

async function announce({ persona, session, folder, hivebar }: Agent): Promise<void> {
  const output = await hivebar(['session', 'set', persona, '--id', session, '--pid', `${process.pid}`]);
  assert.deepEqual(output, [`${persona}: session ${session} in ${folder}`]);
}

/** One that asked nothing, and for which nothing waits, may stop. */
async function hasNothing(outlook: AgentOutlook): Promise<void> {
  await silent(outlook, 'SessionStart', { source: 'startup' });
  await silent(outlook, 'UserPromptSubmit', { prompt: 'go on' });
  await silent(outlook, 'PreToolUse', { tool_name: 'Bash', tool_input: {} });
  await silent(outlook, 'Stop', { stop_hook_active: false, last_assistant_message: 'done' });
}

/**
 * It asks a person, is held with what waits for it, hears the answer, and may stop. A `decision` gate that was registered holds
 * before it asked too, and the answer is used up by the stop it allows.
 */
async function asks(outlook: AgentOutlook, isRegistered: boolean): Promise<void> {
  const { agent } = outlook;
  const { persona } = agent;
  const decisionFile = agent.home.at('gates', persona, 'decision.json');
  const register = (id: string, text: string, ...more: readonly string[]): Promise<readonly string[]> =>
    agent.hivebar(['gate', 'register', id, '--hook', 'stop', '--mode', 'strict', '--description', text, ...more]);
  const TESTS = 'tests: the tests are red (run them)';
  const tests = await register('tests', 'the tests are red', '--hint', 'run them');
  assert.deepEqual(tests, [`${persona}: tests is a strict gate of Stop`]);
  if (isRegistered) {
    assert.deepEqual(await register('decision', 'ask first', '--hint', 'create one'), [
      `${persona}: decision is a strict gate of Stop`,
    ]);
  }
  const first = isRegistered ? `decision: ask first (create one); ${TESTS}` : TESTS;
  assert.deepEqual(await agent.hivebar(['gate', 'check', '--hook', 'Stop'], 1), [`block: ${first}`]);

  const options = ['--option', 'a=the long way', '--option', 'b:Short=the short way'];
  const [asked = ''] = await agent.hivebar(['decision', 'create', ...options, 'Which way?']);
  const id = /^decision (\d+) asked by/.exec(asked)?.[1] ?? '';
  assert.equal(asked, `decision ${id} asked by ${persona}: wait with hivebar decision wait ${id}`);

  // Held, and the reason carries what waits.
  const items = accepted(outlook, 4);
  assert.notEqual(items.length, 0);
  const held = await moment(outlook, 'Stop', { stop_hook_active: false, last_assistant_message: 'done' });
  const open = `${isRegistered ? 'ask first; ' : ''}decision ${id} ("Which way?") is not answered`;
  assert.deepEqual(held.answer, {
    decision: 'block',
    reason: `This stop is held by Hivebar: decision: ${open} (hivebar decision wait ${id}); ${TESTS}\n${formatFrame(persona, items)}`,
  });

  // It waits, as a tool; a person answers.
  await using waiting = agent.start(['decision', 'wait', id]);
  await waiting.until('the mark of who waits', () => readMark(agent, 'decision-waiting') === 'decision');
  const respond = ['decision', 'respond', id, '--select', 'b', '--text', 'and quickly', '--by', 'carol'];
  const answered = [`decision ${id}: answered by carol: b (the short way)`, '  and quickly'];
  assert.deepEqual(await agent.hivebar(respond), answered);
  assert.deepEqual(await waiting.ended(), { code: 0, signal: null });
  assert.deepEqual(waiting.lines, answered);
  assert.deepEqual(await agent.hivebar(['gate', 'mark', 'tests']), [`${persona}: tests is satisfied`]);
  const answer = `Decision ${id} was answered by carol.\nYou asked: Which way?\nChosen: b (the short way)\nNote: and quickly`;
  came(outlook, { type: 'decision', source: 'carol', priority: 1, content: answer, origin: 'hivebar' });
  came(outlook, {
    type: 'gate',
    source: 'hivebar gate',
    priority: 2,
    content: 'Gate tests resolved: it was marked',
    origin: 'hivebar',
  });
  await describeEvent(outlook, 'PostToolUse', { tool_name: 'Bash' });

  // It may stop, and with a gate of its own no second time.
  if (isRegistered) assert.equal(readMark(agent, 'decision'), 'decision');
  await silent(outlook, 'Stop', { stop_hook_active: true, last_assistant_message: 'done now' });
  assert.deepEqual([readMark(agent, 'decision'), readMark(agent, 'tests')], [null, 'cli']);
  await describeEvent(outlook, 'UserPromptSubmit', { prompt: 'and now?' });
  if (!isRegistered) return;
  assert.deepEqual(await agent.hivebar(['gate', 'check', '--hook', 'Stop'], 1), [
    'block: decision: ask first (create one)',
  ]);
  rmSync(decisionFile);
}

/** Something is killed; commands and hooks go on, and when it is back everything comes, once. */
async function broken(
  stage: Stage,
  { what, kill, restart }: Break,
  ada: AgentOutlook,
  bo: AgentOutlook,
): Promise<void> {
  await kill();
  const item = { type: 'event', source: '', priority: 2, content: '' };
  for (const n of [1, 2]) {
    await write(stage, bo, ada, { ...item, source: 'bo', content: `${n} to ada without ${what}` });
    await write(stage, ada, bo, { ...item, source: 'ada', content: `${n} to bo without ${what}` });
  }
  await writeAll(stage, ada, bo, { ...item, source: 'ada', content: `to all without ${what}` });
  const twice = { ...item, source: 'ci', content: `from both without ${what}` };
  await fromBoth(stage, ada, bo, twice, `broadcast:${what}`);
  // A program without Hivebar writes one line into the queue of each.
  for (const agent of [ada, bo])
    queue(agent, { ...item, source: 'ci', content: `queued without ${what}` }, `ci:${what}`);
  for (const agent of [ada, bo]) {
    if (agent.here.length > 0) await describeEvent(agent, 'UserPromptSubmit', { prompt: 'are you there?' });
    await silent(agent, 'Stop', { stop_hook_active: false, last_assistant_message: `without ${what}` });
  }
  await restart();
  for (const agent of [ada, bo]) {
    const isMore = agent.away.length > 0;
    await arrived(agent);
    if (isMore) await describeEvent(agent, 'SessionStart', { source: 'resume' });
    await silent(agent, 'UserPromptSubmit', { prompt: 'anything else?' });
  }
}

function queue(outlook: AgentOutlook, item: ContextItem, key: string): void {
  const { home, session } = outlook.agent;
  mkdirSync(home.at('inject-queue'), { recursive: true, mode: 0o700 });
  const line = { ...item, timestamp: Date.now(), dedup_key: key };
  appendFileSync(home.at('inject-queue', `${session}.jsonl`), `${JSON.stringify(line)}\n`, { mode: 0o600 });
  came(outlook, item);
}

/** One broadcast that a program on each machine announces. */
async function fromBoth(
  stage: Stage,
  ada: AgentOutlook,
  bo: AgentOutlook,
  item: ContextItem,
  key: string,
): Promise<void> {
  const push = ['inbox', 'push', '--broadcast', '--type', item.type, '--source', item.source, '--dedup-key', key];
  const [first = ''] = await ada.agent.hivebar([...push, item.content]);
  const [second = ''] = await bo.agent.hivebar([...push, item.content]);
  const id = /^pushed (\d+) to everyone$/.exec(first)?.[1] ?? '';
  assert.match(
    second,
    stage.isOneStore ? new RegExp(`^${id} for everyone exists already \\(${key}\\)$`) : /^pushed \d+ to everyone$/,
  );
  for (const agent of [ada, bo]) came(agent, { ...item, toAll: true });
}

/** A soft gate warns the person at a Stop, and its check tells the agent that it resolved. */
async function committed(outlook: AgentOutlook): Promise<void> {
  const { agent } = outlook;
  const stop = (n: number) =>
    moment(outlook, 'Stop', { stop_hook_active: false, last_assistant_message: `work ${n}`, turn_id: `turn ${n}` });
  writeFileSync(join(agent.folder, 'work.txt'), 'half');
  let warned: unknown = null;
  for (let n = 0; n < 5 && warned === null; n += 1) warned = (await stop(n)).answer; // git may be slow
  assert.deepEqual(warned, {
    systemMessage: 'hivebar: commit-push: there are uncommitted changes (commit and push them)',
  });
  agent.git('add', '.');
  agent.git('commit', '-q', '-m', 'all of it');
  const nothing = `${agent.persona} has no pending items`;
  for (let n = 5, pending = nothing; n < 10 && pending === nothing; n += 1) {
    assert.equal((await stop(n)).answer, null);
    pending = (await agent.hivebar(['inbox', 'list', agent.persona, '--pending']))[0] ?? '';
  }
  came(outlook, {
    type: 'gate',
    source: 'hivebar gate',
    priority: 2,
    content: 'Gate commit-push resolved: its check passed',
    origin: 'hivebar',
  });
  await describeEvent(outlook, 'UserPromptSubmit', { prompt: 'well done' });
}

/** Claude Code says when a session is over. */
async function ends(outlook: AgentOutlook): Promise<void> {
  const { agent } = outlook;
  const states = async (): Promise<readonly unknown[]> => {
    const [listed = ''] = await agent.hivebar(['session', 'list', agent.persona, '--json']);
    return (JSON.parse(listed) as readonly { id: string; state: string }[]).map(({ id, state }) => [id, state]);
  };
  assert.deepEqual(await states(), [[agent.session, 'live']]);
  await silent(outlook, 'SessionEnd', { reason: 'exit' });
  assert.deepEqual(await states(), [[agent.session, 'gone']]);
}

interface ItemListing {
  readonly id: number;
  readonly content: string;
  readonly delivered: string | null;
}

/** Every item of its store but its own was shown to it once, and its event file has each once, in the order of the store. */
async function shownOnce(outlook: AgentOutlook): Promise<void> {
  await arrived(outlook);
  const { agent, all, own } = outlook;
  const { home, persona } = agent;
  const [listed = ''] = await agent.hivebar(['inbox', 'list', persona, '--all', '--limit', '1000', '--json']);
  const items = (JSON.parse(listed) as readonly ItemListing[]).toSorted((a, b) => a.id - b.id);
  assert.deepEqual(items.map(({ content }) => content).toSorted(), all.map(({ content }) => content).toSorted());
  assert.deepEqual(
    agent.shown.toSorted((a, b) => a - b),
    items.filter(({ content }) => !own.includes(content)).map(({ id }) => id),
  );
  for (const { delivered, content } of items) assert.equal(delivered === null, own.includes(content), content);
  assert.deepEqual(await agent.hivebar(['inbox', 'list', persona, '--pending']), [`${persona} has no pending items`]);
  assert.deepEqual(await agent.hivebar(['inbox', 'drain', persona]), []);

  const events = home.events(persona);
  const mail = events.filter(({ event }) => event === 'new');
  assert.deepEqual(
    mail.map(({ id, content }) => [id, content]),
    items.map(({ id, content }) => [id, content]),
  );
  assert.equal(new Set(events.map(({ event_id: id }) => id)).size, events.length);
  assert.deepEqual([...new Set(events.map(({ event }) => event))].toSorted(), ['armed', 'new', 'persona_added']);
}
