import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { DaemonPlaces } from '../../../core/link/index.ts';
import type { ProgramEnv } from '../../programs.node.ts';

const READ_MS = 2000;
const LINES = 5;

/** Returns the last message of a daemon, from the journal of its unit, else from its log file. Null when neither has a line. */
export function findLastLog({ unit, log }: Pick<DaemonPlaces, 'unit' | 'log'>, env: ProgramEnv): string | null {
  const lines = [...readJournalLines(unit, env), ...readFileLines(log)];
  for (const line of lines.toReversed()) {
    const text = parseMessage(line);
    if (text !== '') return text;
  }
  return null;
}

function readJournalLines(unit: string, env: ProgramEnv): readonly string[] {
  if (process.platform !== 'linux') return [];
  const args = [
    '--user',
    '--unit',
    `${unit}.service`,
    '--lines',
    `${LINES}`,
    '--output',
    'cat',
    '--no-pager',
    '--quiet',
  ];
  const result = spawnSync('journalctl', args, {
    env,
    encoding: 'utf8',
    timeout: READ_MS,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return result.status === 0 ? result.stdout.split('\n') : [];
}

function readFileLines(path: string): readonly string[] {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .slice(-1 - LINES);
  } catch {
    return []; // the daemon has written none
  }
}

/** Extracts the message: our records have it in `msg`; any other line comes from the launcher. */
function parseMessage(line: string): string {
  try {
    const { msg } = JSON.parse(line) as { readonly msg?: unknown };
    if (typeof msg === 'string') return msg;
  } catch {
    // not one of our records
  }
  return line.trim();
}
