import { type ChildProcess, spawn } from 'node:child_process';
import { parseJson } from '../../core/model/index.ts';
import type { Clock } from '../../core/ports/index.ts';

export interface HelperCommand {
  /** An absolute path, so that nothing is searched in the current folder. */
  readonly file: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A running tray helper that reported that it is ready. */
export interface TrayHelper {
  /** Sends one message. Does nothing once the helper has ended. */
  send(message: unknown): void;
  /** Asks the helper to exit, and kills it if it does not. Resolves when it is gone; `ended` is not called. */
  end(): Promise<void>;
}

export interface HelperEvents {
  clicked(id: number): void;
  /** Called when the helper ended without being asked to. */
  ended(why: string): void;
}

const READY_MS = 10_000;
const POLITE_MS = 1000;
const LINE_MOST = 65_536;
const STDERR_CHARS = 1000;

/**
 * Starts the helper binary. It reads and writes JSON, one object per line. Its exit code says nothing (0 for a broken line, an
 * end of input and a SIGTERM alike), so the only question is whether it was asked to exit.
 * @throws Error that says why it was not ready within 10 s
 */
export function startHelper(command: HelperCommand, clock: Clock, events: HelperEvents): Promise<TrayHelper> {
  return new Promise((resolve, reject) => {
    // The helper gets three pipes and nothing else. If another process held its input open, it would outlive us.
    const child = spawn(command.file, [], {
      cwd: command.cwd,
      env: { ...command.env },
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    });
    let state: 'starting' | 'ready' | 'leaving' | 'over' = 'starting';
    let stderr = '';

    const over = (why: string): void => {
      limit[Symbol.dispose]();
      const before = state;
      state = 'over';
      if (before === 'starting') reject(new Error(why));
      if (before === 'ready') events.ended(why);
    };
    const limit = clock.after(READY_MS, () => {
      child.kill('SIGKILL');
      over(`not ready after ${READY_MS / 1000} s`);
    });
    child.once('error', (error) => over(error.message));
    child.once('close', (code, signal) => {
      const last = stderr.trim().split('\n').at(-1) ?? '';
      over(`ended with ${signal ?? `code ${code}`}${last === '' ? '' : `: ${last}`}`);
    });
    child.stdin.on('error', () => {}); // a broken pipe: `close` follows and reports it
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-STDERR_CHARS);
    });
    onLines(child, (message) => {
      if (message.type === 'ready' && state === 'starting') {
        limit[Symbol.dispose]();
        state = 'ready';
        resolve({
          send: (out) => {
            if (state === 'ready' && child.stdin.writable) child.stdin.write(`${JSON.stringify(out)}\n`);
          },
          end: async () => {
            if (state === 'over') return;
            state = 'leaving';
            await endHelper(child, clock);
          },
        });
      }
      if (message.type === 'clicked' && typeof message.__id === 'number' && state === 'ready') {
        events.clicked(message.__id);
      }
    });
  });
}

function onLines(child: ChildProcess, listener: (message: Readonly<Record<string, unknown>>) => void): void {
  let rest = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = (lines.pop() ?? '').slice(0, LINE_MOST);
    for (const line of lines) {
      const message = parseHelperMessage(line);
      if (message !== null) listener(message);
    }
  });
}

function parseHelperMessage(line: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = parseJson(line);
    return value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : null;
  } catch {
    return null; // GTK and the system's libraries print other lines
  }
}

/** Sends `exit`, a second later SIGTERM, then SIGKILL. A helper that stays leaves a dead icon in the bar. */
function endHelper(child: ChildProcess, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    let timer = clock.after(POLITE_MS, () => {
      child.kill('SIGTERM');
      timer = clock.after(POLITE_MS, () => child.kill('SIGKILL'));
    });
    child.once('close', () => {
      timer[Symbol.dispose]();
      resolve();
    });
    child.stdin?.end(`${JSON.stringify({ type: 'exit' })}\n`);
  });
}
