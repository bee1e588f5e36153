import { Fault } from '../../model/index.ts';
import { silentLog } from '../../ports/index.ts';
import { createRealDisk, readLockTable } from '../../state/index.ts';
import { type CheckContext, type Finding, fail, ok, skipped, warn } from '../module.ts';
import { findCodexHome } from './open.ts';
import { listNumbered } from './queue.ts';
import type { CodexSettings } from './settings.ts';
import { createCodexSource } from './source.ts';

/** Polls the queue of Codex once, as the watcher of the tray process does. */
export async function checkCodex(
  { codex }: CodexSettings,
  { env, clock }: CheckContext,
  signal: AbortSignal,
): Promise<Finding> {
  if (codex.is === 'off') return skipped('switched off in the settings');
  const home = findCodexHome(codex.home, env);
  const disk = createRealDisk(silentLog);
  const host = { put: () => {}, findSessionPersona: () => null, log: silentLog, contentChars: null };
  try {
    if (listNumbered(disk, home, 'queue').length === 0) return skipped(`no queue in ${home}`);
    await using source = createCodexSource({ ...host, home, disk, clock, readLockTable });
    let messages = 0;
    const idle: string[] = [];
    const personas = await source.personas(signal);
    for (const persona of personas) {
      const { unread, agentState } = await source.poll(persona, { is: 'unset' }, signal);
      if (unread.is !== 'unknown') messages += unread.n;
      if (agentState.is === 'gone' && agentState.why === 'no-reader') idle.push(persona.label);
    }
    return judgeQueue(messages, personas.length, idle);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return fail(error.message, 'see what holds or damaged that file; Hivebar only reads it');
  }
}

/** @param idle labels of threads with messages that nobody runs */
export function judgeQueue(messages: number, threads: number, idle: readonly string[]): Finding {
  const count = (n: number, word: string): string => `${n} ${word}${n === 1 ? '' : 's'}`;
  const summary = `${count(messages, 'message')} in the queue of ${count(threads, 'thread')}`;
  const [first] = idle;
  if (first === undefined) return ok(summary);
  const others = idle.length === 1 ? '' : ` (and ${idle.length - 1} more)`;
  return warn(`${summary}; nobody runs ${first}${others}`, 'run it: codex resume, in its folder');
}
