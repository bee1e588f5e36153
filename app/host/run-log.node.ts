import pino from 'pino';
import { displayJson, displayName } from '../../core/format/index.ts';
import type { Log } from '../../core/ports/index.ts';

/**
 * Creates the log of the tray process on stderr: text lines for a person at a terminal, JSON for a journal or a file. Names in it
 * come from hives, so control characters are made harmless and each entry stays on one line.
 */
export function createRunLog(): Log {
  if (process.stderr.isTTY) return createLineLog();
  const stderr = pino.destination({ dest: 2, sync: true });
  const logger = pino(
    { base: null, timestamp: pino.stdTimeFunctions.isoTime },
    { write: (line: string) => stderr.write(displayJson(line)) },
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
