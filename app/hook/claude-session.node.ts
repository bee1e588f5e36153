import { join } from 'node:path';
import type { HarnessState } from '../../core/hooks/index.ts';
import { realFiles } from '../../core/ports/index.ts';
import { readText } from '../../core/state/index.ts';

/** Larger than what Claude Code writes about a session. */
const MOST_BYTES = 64 * 1024;

/**
 * Returns what Claude Code reports about the session of this process, in `sessions/PID.json` of its configuration folder.
 * `unknown` means that there is nothing, or that it is about another session. Only `idle` is a proof.
 */
export function readHarnessState(home: string, pid: number, session: string | null): HarnessState {
  const path = join(home, 'sessions', `${pid}.json`);
  try {
    return parseHarnessState(readText(realFiles, path, MOST_BYTES) ?? '', pid, session);
  } catch {
    return 'unknown'; // it does not exist or cannot be read
  }
}

/** @throws SyntaxError for text that is not JSON, for example from a file that is being written */
export function parseHarnessState(text: string, pid: number, session: string | null): HarnessState {
  const record = JSON.parse(text) as Readonly<Record<string, unknown>> | null;
  if (record === null || typeof record !== 'object' || record.pid !== pid || record.sessionId !== session)
    return 'unknown';
  if (record.kind !== 'interactive') return 'unknown';
  if (record.waitingFor !== undefined && record.waitingFor !== null) return 'waiting';
  return record.status === 'idle' || record.status === 'busy' || record.status === 'waiting'
    ? record.status
    : 'unknown';
}
