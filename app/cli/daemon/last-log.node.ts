import { readFileSync } from 'node:fs';
import type { DaemonPlaces } from '../../../core/link/index.ts';
import type { ProgramEnv } from '../../programs.node.ts';
import { parseLogMessage } from '../log-lines.ts';
import { readJournalLines } from './journal.node.ts';

const LINES = 5;

/** Returns the last message of a daemon, from the journal of its unit, else from its log file. Null when neither has a line. */
export function findLastLog({ unit, log }: Pick<DaemonPlaces, 'unit' | 'log'>, env: ProgramEnv): string | null {
  const lines = [...readJournalLines(unit, LINES, env), ...readFileLines(log)];
  for (const line of lines.toReversed()) {
    const text = parseLogMessage(line).trim();
    if (text !== '') return text;
  }
  return null;
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
