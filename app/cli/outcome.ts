import { displayName } from '../../core/format/index.ts';
import { Fault } from '../../core/model/index.ts';
import type { Io } from './command.ts';
import type { TrayResponse } from './tray-request.node.ts';

/** A command line that does not parse, as the fault that ends in exit 2. */
export function toUsageFault(error: unknown): Fault {
  // Node writes some of its own in several lines.
  const message = (error instanceof Error ? error.message : String(error)).replace(/\s*\n\s*/g, ' ');
  return new Fault('usage', message, { is: 'machine', key: 'usage' }, { cause: error });
}

/** The body of a good answer; else null, and the person has been told what is wrong and what to do. */
export function unwrapResponse(response: TrayResponse, io: Io): string | null {
  if (response.is === 'not-running') {
    io.err('hivebar is not running: start it with `hivebar`\n');
    return null;
  }
  if (response.status >= 200 && response.status < 300) return response.body;
  io.err(`hivebar refused (${response.status}): ${displayName(parseReason(response.body))}\n`);
  return null;
}

/** The message and next step of the server's `{"error": {...}}`, else what it said, cut. */
function parseReason(body: string): string {
  try {
    const { error } = JSON.parse(body) as { error?: { message?: unknown; next?: unknown } };
    if (typeof error?.message === 'string') return [error.message, error.next].filter(Boolean).join(': ');
  } catch {
    // Not JSON: shown as it is.
  }
  return body.slice(0, 200);
}
