import { join } from 'node:path';
import pino from 'pino';
import { displayJson, displayName } from '../../core/format/index.ts';
import { type Log, silentLog } from '../../core/ports/index.ts';
import { createRealDisk } from '../../core/state/index.ts';
import { createLogFile, LOG_FILE } from './log-file.ts';

/**
 * Creates the log of the tray process on stderr: text lines for a person at a terminal, JSON for a journal or a file. With the
 * directory for state every entry is also a line of JSON in its log file, which `hivebar logs` shows. Names in it come from hives,
 * so control characters are made harmless and each entry stays on one line.
 */
export function createRunLog(state: string | null = null): Log {
  const toFile = state === null ? null : createFileLog(state);
  const toStderr = process.stderr.isTTY ? createLineLog() : createStderrLog();
  if (toFile === null) return toStderr;
  const both =
    (level: keyof Log): Log['info'] =>
    (line, about) => {
      toStderr[level](line, about);
      toFile[level](line, about);
    };
  return { info: both('info'), warn: both('warn'), error: both('error') };
}

/** Creates the log in the log file alone, for what a person reads on stderr in other words. */
export function createFileLog(state: string): Log {
  return createJsonLog(createLogFile(createRealDisk(silentLog), join(state, LOG_FILE)));
}

function createStderrLog(): Log {
  const stderr = pino.destination({ dest: 2, sync: true });
  return createJsonLog((line) => stderr.write(line));
}

function createJsonLog(write: (line: string) => void): Log {
  const logger = pino(
    { base: null, timestamp: pino.stdTimeFunctions.isoTime },
    { write: (line: string) => write(displayJson(line)) },
  );
  return {
    info: (line, about = {}) => logger.info(toLoggable(about), line),
    warn: (line, about = {}) => logger.warn(toLoggable(about), line),
    error: (line, about = {}) => logger.error(toLoggable(about), line),
  };
}

function createLineLog(): Log {
  const say = (line: string, about?: Record<string, unknown>): void => {
    const rest = about === undefined ? '' : ` ${displayJson(JSON.stringify(toLoggable(about)))}`;
    process.stderr.write(`hivebar: ${displayName(line)}${rest}\n`);
  };
  return { info: say, warn: say, error: say };
}

/** JSON shows no fields of an error, so its stack is logged: what it was and where. */
function toLoggable(about: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(about).map(([key, value]) => [key, value instanceof Error ? (value.stack ?? String(value)) : value]),
  );
}
