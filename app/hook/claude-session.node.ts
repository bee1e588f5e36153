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
  const said = JSON.parse(text) as Readonly<Record<string, unknown>> | null;
  if (said === null || typeof said !== 'object' || said.pid !== pid || said.sessionId !== session) return 'unknown';
  if (said.kind !== 'interactive') return 'unknown';
  if (said.waitingFor !== undefined && said.waitingFor !== null) return 'waiting';
  return said.status === 'idle' || said.status === 'busy' || said.status === 'waiting' ? said.status : 'unknown';
}
