import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatScript } from '../../app/hook/script.ts';
import { openItems } from '../../core/inbox/index.ts';
import { realClock } from '../../core/ports/index.ts';
import { openDatabase } from '../../core/state/index.ts';
import { newItem } from './new-item.ts';
import { programEntry } from './program.ts';
import { scratch } from './scratch.ts';

export interface KilledAgentOptions {
  readonly messages: number;
  /** A number below 1, and another one at each call. */
  readonly random: () => number;
  /** How many messages come at once, at most. */
  readonly burst: number;
}

export interface KilledAgentResult {
  readonly turns: number;
  readonly kills: number;
  readonly wakes: number;
  readonly missed: number;
  readonly shownTwice: number;
  /** Wakes after which nothing was shown. */
  readonly wokenForNothing: number;
}

/** After the last message an agent that is shown nothing for so long counts as one that missed the rest. */
const MOST_IDLE_MS = 60_000;
/** An idle agent that nobody wakes is killed now and then as well. */
const PAUSE_MS = 3000;

/**
 * Sends messages to an agent that is killed at random between its turns. The agent is a stand-in that runs the installed hooks and the
 * waiter as Claude Code does: the hook of a Stop and the waiter at the same time. Script, program and database are real, and no tray
 * process runs.
 */
export async function runKilledAgent({ messages, random, burst }: KilledAgentOptions): Promise<KilledAgentResult> {
  using state = scratch();
  for (const dir of ['run', 'run/activity', 'hook', 'cwd']) mkdirSync(state.at(dir), { mode: 0o700 });
  const leads = { HIVEBAR_HOME: state.dir };
  const facts = { node: process.execPath, otherNodes: [], entry: programEntry('hook'), state: state.dir, leads };
  const script = state.write('hook/hivebar-hook', formatScript(facts));
  chmodSync(script, 0o700);
  using db = openDatabase(state.at('hivebar.sqlite'));
  const items = openItems({ db, clock: realClock });
  const shown = new Map<number, number>();
  const sent: number[] = [];
  const result = { turns: 0, kills: 0, wakes: 0, wokenForNothing: 0 };
  let session = '';

  function start(event: string): ChildProcess {
    const env = {
      PATH: process.env.PATH,
      HOME: state.dir,
      AI_AGENT: 'claude-code_2-1-332_agent',
      CLAUDE_CODE_ENTRYPOINT: 'cli',
      CLAUDE_CODE_SESSION_ID: session,
    };
    const child = spawn(script, ['claude', event, 'ada'], {
      env,
      cwd: state.at('cwd'),
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    child.stdin?.on('error', () => {}); // it need not read it
    const input = { session_id: session, hook_event_name: event, cwd: state.at('cwd'), stop_hook_active: false };
    child.stdin?.end(JSON.stringify(input));
    return child;
  }

  /** Runs a hook to its end, and returns how many items it showed. */
  async function hook(event: string): Promise<number> {
    const child = start(event);
    let output = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    await once(child, 'close');
    const ids = [...output.matchAll(/<item id=\\"(\d+)\\"/g)].map(([, id]) => Number(id));
    for (const id of ids) shown.set(id, (shown.get(id) ?? 0) + 1);
    return ids.length;
  }

  function push(): void {
    const count = Math.min(messages - sent.length, 1 + Math.floor(random() * burst));
    const pushed = items.push(
      Array.from({ length: count }, () => newItem({ created: Date.now(), priority: random() < 0.2 ? 1 : 2 })),
    );
    sent.push(...pushed.map(({ id }) => id));
  }

  /** The rest of a turn, up to the Stop that is not held, and the waiter that begins beside it. */
  async function finishTurn(): Promise<ChildProcess> {
    result.turns += 1;
    if (sent.length < messages - burst && random() < 0.3) push();
    if (random() < 0.5) await hook('PostToolUse');
    for (;;) {
      const waiter = start('Wait');
      // A Stop that shows something lets the turn go on, as Claude Code does: the next Stop has a waiter of its own.
      if ((await hook('Stop')) === 0) return waiter;
      waiter.kill('SIGKILL');
    }
  }

  async function begin(): Promise<ChildProcess> {
    session = randomUUID();
    await hook('SessionStart');
    await hook('UserPromptSubmit');
    return await finishTurn();
  }

  const isWhole = (): boolean => sent.length === messages && sent.every((id) => shown.has(id));
  let waiter = await begin();
  let seen = shown.size;
  for (let last = performance.now(); !isWhole() && performance.now() - last < MOST_IDLE_MS; ) {
    if (sent.length < messages) push();
    if (sent.length < messages || shown.size > seen) last = performance.now();
    seen = shown.size;
    const ended = waiter.exitCode !== null || waiter.signalCode !== null ? null : once(waiter, 'exit');
    await Promise.race([ended, sleep(random() < 0.3 ? random() * 100 : PAUSE_MS)]);
    const isWoken = waiter.exitCode === 2;
    if (isWoken) result.wakes += 1;
    // For the last ones nobody but the waiter wakes it.
    if (sent.length < messages && random() < 0.15) {
      result.kills += 1;
      waiter.kill('SIGKILL');
      waiter = await begin();
    } else if (isWoken) {
      if ((await hook('UserPromptSubmit')) === 0) result.wokenForNothing += 1;
      waiter = await finishTurn();
    }
  }
  waiter.kill('SIGKILL');
  return {
    ...result,
    missed: sent.filter((id) => !shown.has(id)).length,
    shownTwice: [...shown.values()].filter((times) => times > 1).length,
  };
}
