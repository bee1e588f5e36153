import pino from 'pino';
import type { Log } from '../../core/ports/index.ts';

/** The log of the tray process, on stderr: lines for a person at a terminal, JSON for a journal or a file. */
export function runLog(): Log {
  if (process.stderr.isTTY) return lines();
  const logger = pino(
    { base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ dest: 2, sync: true }),
  );
  return {
    info: (line, about = {}) => logger.info(about, line),
    warn: (line, about = {}) => logger.warn(about, line),
    error: (line, about = {}) => logger.error(about, line),
  };
}

function lines(): Log {
  const say = (line: string, about?: Record<string, unknown>): void => {
    const rest = about === undefined ? '' : ` ${JSON.stringify(about)}`;
    process.stderr.write(`hivebar: ${line}${rest}\n`);
  };
  return { info: say, warn: say, error: say };
}
