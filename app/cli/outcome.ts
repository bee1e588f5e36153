import type { Io } from '../../core/command/index.ts';
import { displayName } from '../../core/format/index.ts';
import type { TrayResponse } from './tray-request.node.ts';

/** Returns the body of a successful response. Null: it failed, and the person was told what is wrong and what to do. */
export function unwrapResponse(response: TrayResponse, io: Io): string | null {
  if (response.is === 'not-running') {
    io.err('hivebar is not running: start it with `hivebar`\n');
    return null;
  }
  if (response.status >= 200 && response.status < 300) return response.body;
  io.err(`hivebar refused (${response.status}): ${displayName(parseReason(response.body))}\n`);
  return null;
}

/** Extracts the message and next step of the server's `{"error": {...}}`; any other body is shown, cut. */
function parseReason(body: string): string {
  try {
    const { error } = JSON.parse(body) as { error?: { message?: unknown; next?: unknown } };
    if (typeof error?.message === 'string') return [error.message, error.next].filter(Boolean).join(': ');
  } catch {
    // The body is not JSON and is shown as it is.
  }
  return body.slice(0, 200);
}
