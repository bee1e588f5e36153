import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readActivity } from '../../app/hook/index.ts';
import { formatScript } from '../../app/hook/script.ts';
import { buildPackage } from '../../build/package.ts';
import { openItems } from '../../core/inbox/index.ts';
import { realClock } from '../../core/ports/index.ts';
import { openDatabase } from '../../core/state/index.ts';
import { agentTerminals, prepareClaude, prepareCodex, trustCodexHooks, waitForCodex } from '../kit/agent-terminal.ts';
import { hookShell } from '../kit/hook-shell.ts';
import { runKilledAgent } from '../kit/killed-agent.ts';
import { type ModelServer, modelServer } from '../kit/model-server.ts';
import { newItem } from '../kit/new-item.ts';
import { realClient } from '../kit/real-clients.ts';
import { type TrayHome, trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';
import { goals, quantile, type Sample } from './harness.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const MAILS = 11;
const REST_MS = 30_000;
const MESSAGES = 10_000;

export const benches = [
  goals(
    [{ name: 'mail -> an idle real Claude Code session asks its model, p50 (waiter)', unit: 'ms', bar: 1000 }],
    wakeClaude,
  ),
  goals([{ name: 'mail -> an idle real Codex asks its model, p50 (its queue)', unit: 'ms', bar: 2000 }], wakeCodex),
  goals(
    [
      { name: 'waiter at rest, resident', unit: 'MiB', bar: 2 },
      { name: 'waiter at rest, wake-ups', unit: 'per min', bar: 0 },
    ],
    rest,
  ),
  goals(
    [{ name: '10,000 messages to an agent that is killed at random between turns', unit: 'missed', bar: 0 }],
    killed,
    { isSlow: true },
  ),
];

/** The tray process is closed, and the hooks run the packed program. The turn has begun when its request reaches the model. */
async function wakeClaude(): Promise<readonly Sample[]> {
  const client = realClient('claude');
  if ('missing' in client) throw new Error(client.missing);
  using home = trayHome();
  const project = `${home.home}/project`;
  mkdirSync(project);
  await using model = await modelServer(() => null);
  const env = { ...prepareClaude(home.home, project, model.url), HIVEBAR_HOME: home.dir };
  await installPackedHooks(home, 'claude', env);
  await using terminals = agentTerminals(home.home);
  terminals.start('one', project, env, [client.program]);
  await terminals.shows('one', /\n❯\s*\n─/);
  const dir = home.at('run', 'waiters', 'ada');
  const isWaiting = (): boolean => existsSync(dir) && readdirSync(dir).some((name) => name.includes('.'));
  await terminals.say('one', 'Hello');
  await untilAsked(model, 'Hello');
  using db = openDatabase(home.at('hivebar.sqlite'));
  const items = openItems({ db, clock: realClock });
  return await measureWakes(model, isWaiting, async (content) => {
    items.push([newItem({ content, created: Date.now() })]);
  });
}

/** The tray process runs, because it is what tells Codex. The hooks run the packed program. */
async function wakeCodex(): Promise<readonly Sample[]> {
  const client = realClient('codex');
  if ('missing' in client) throw new Error(client.missing);
  using home = trayHome();
  const project = `${home.home}/project`;
  mkdirSync(project);
  await using model = await modelServer(() => null);
  const env = {
    ...prepareCodex(home.home, [project], model.url),
    HIVEBAR_HOME: home.dir,
    PATH: `${dirname(client.program)}:${process.env.PATH}`,
  };
  await installPackedHooks(home, 'codex', env);
  await using tray = await home.start(['--no-tray', '--no-notifications'], env);
  await using terminals = agentTerminals(home.home);
  terminals.start('one', project, env, [client.program]);
  await trustCodexHooks(terminals, 'one');
  await waitForCodex(terminals, 'one');
  const isIdle = (): boolean => readActivity(home.at('run'), 'ada')?.moment === 'Stop';
  await terminals.say('one', 'Hello');
  await untilAsked(model, 'Hello');
  return await measureWakes(model, isIdle, async (content) => {
    await tray.post('/api/send', { to: 'ada', from: 'bo', content });
  });
}

async function installPackedHooks(
  home: TrayHome,
  harness: string,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  mkdirSync(`${home.home}/package`);
  await buildPackage(`${home.home}/package/dist`);
  for (const name of ['node_modules', 'package.json']) symlinkSync(join(ROOT, name), `${home.home}/package/${name}`);
  await home.run(['hook', 'install', '--harness', harness, '--persona', 'ada'], { env });
  const entry = `${home.home}/package/dist/hook.cjs`;
  const leads = { HIVEBAR_HOME: home.dir };
  const text = formatScript({ node: process.execPath, otherNodes: [], entry, state: home.dir, leads });
  writeFileSync(home.at('hook', 'hivebar-hook'), text);
}

async function untilAsked(model: ModelServer, words: string): Promise<void> {
  await until(words, () => model.asks.some(({ fresh }) => fresh.includes(words)));
}

/** From the message to the request that shows it. */
async function measureWakes(
  model: ModelServer,
  isAtRest: () => boolean,
  send: (content: string) => Promise<void>,
): Promise<readonly Sample[]> {
  const took: number[] = [];
  for (let n = 1; n <= MAILS; n += 1) {
    await until('it rests', isAtRest);
    await sleep(1000);
    const content = `MAIL NUMBER ${n}.`;
    const began = performance.now();
    await send(content);
    await untilAsked(model, content);
    took.push(performance.now() - began);
  }
  return [{ value: quantile(took, 0.5), note: `longest ${Math.round(Math.max(...took))} ms` }];
}

async function rest(): Promise<readonly Sample[]> {
  using h = hookShell();
  h.stamp('ada');
  chmodSync(h.script, 0o700);
  const child: ChildProcess = spawn(h.script, ['claude', 'Wait', 'ada'], {
    env: { PATH: process.env.PATH, AI_AGENT: 'claude-code_2-1-332_agent', CLAUDE_CODE_SESSION_ID: 'bench' },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  using _ = { [Symbol.dispose]: () => void child.kill('SIGKILL') };
  child.stdin?.end('{}');
  await until('its pipe', () => existsSync(h.state.at('run/waiters/ada', `bench.${child.pid}`)));
  await sleep(1000);
  const read = (): string => readFileSync(`/proc/${child.pid}/status`, 'utf8');
  const switches = (): number => Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(read())?.[1]);
  const before = switches();
  await sleep(REST_MS);
  const resident = Number(/^VmRSS:\s+(\d+)/m.exec(read())?.[1]) / 1024;
  const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8');
  if (children !== '') throw new Error(`it has children: ${children}`);
  return [{ value: resident }, { value: ((switches() - before) * 60_000) / REST_MS }];
}

async function killed(): Promise<readonly Sample[]> {
  const { missed, shownTwice, wokenForNothing, turns, kills, wakes } = await runKilledAgent({
    messages: MESSAGES,
    random: Math.random,
    burst: 60,
  });
  const note = `${shownTwice} shown twice, ${wokenForNothing} wakes for nothing; ${turns} turns, ${kills} kills, ${wakes} wakes`;
  return [{ value: missed + shownTwice + wokenForNothing, note }];
}
