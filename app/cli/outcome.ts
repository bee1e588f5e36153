import { Fault } from '../../core/model/index.ts';
import { printable } from '../printable.ts';
import type { Asked } from './ask-tray.node.ts';
import type { Io } from './command.ts';

/** A command line that does not parse, as the fault that ends in exit 2. */
export function usage(error: unknown): Fault {
  // Node writes some of its own in several lines.
  const message = (error instanceof Error ? error.message : String(error)).replace(/\s*\n\s*/g, ' ');
  return new Fault('usage', message, { is: 'machine', key: 'usage' }, { cause: error });
}

/** The body of a good answer; else null, and the person has been told what is wrong and what to do. */
export function answered(asked: Asked, io: Io): string | null {
  if (asked.is === 'not-running') {
    io.err('hivebar is not running: start it with `hivebar`\n');
    return null;
  }
  if (asked.status >= 200 && asked.status < 300) return asked.body;
  io.err(`hivebar refused (${asked.status}): ${printable(reasonOf(asked.body))}\n`);
  return null;
}

/** The message and next step of the server's `{"error": {...}}`, else what it said, cut. */
function reasonOf(body: string): string {
  try {
    const { error } = JSON.parse(body) as { error?: { message?: unknown; next?: unknown } };
    if (typeof error?.message === 'string') return [error.message, error.next].filter(Boolean).join(': ');
  } catch {
    // Not JSON: shown as it is.
  }
  return body.slice(0, 200);
}
