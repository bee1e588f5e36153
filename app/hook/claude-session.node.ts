import { join } from 'node:path';
import type { HarnessState } from '../../core/hooks/index.ts';
import { realFiles } from '../../core/ports/index.ts';
import { readText } from '../../core/state/index.ts';

/** More than Claude Code says of a session. */
const MOST_BYTES = 64 * 1024;

/**
 * What Claude Code says of the session that this process runs, in `sessions/PID.json` of its configuration folder. `unknown`:
 * nothing, or of another session: only `idle` is a proof.
 */
export function readHarnessState(home: string, pid: number, session: string | null): HarnessState {
  const path = join(home, 'sessions', `${pid}.json`);
  try {
    return parseHarnessState(readText(realFiles, path, MOST_BYTES) ?? '', pid, session);
  } catch {
    return 'unknown'; // not there, or not to be read
  }
}

/** @throws SyntaxError for what is no JSON, as a file that is being written is */
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
