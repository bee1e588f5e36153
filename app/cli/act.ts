import { type Command, defineCommand, type Io } from '../../core/command/index.ts';
import { displayName } from '../../core/format/index.ts';
import { findNearest } from './nearest.ts';
import { askTray, type TrayResponse } from './tray-request.node.ts';

/**
 * Runs one action in the running program and returns its answer. Null: the action failed, and the person was told why and what
 * to do. For an unknown persona the message suggests the most similar name.
 */
export async function act(
  io: Io,
  action: string,
  params: Readonly<Record<string, unknown>>,
  withinMs?: number,
): Promise<string | null> {
  const response = await askTray(
    { method: 'POST', path: `/api/v1/actions/${action}`, body: JSON.stringify(params) },
    io.env,
    withinMs,
  );
  const isRefused = response.is === 'answered' && response.status >= 400;
  const { persona } = params;
  if (isRefused && typeof persona === 'string') {
    const known = await fetchPersonaNames(io.env);
    if (known !== null && !known.includes(persona)) {
      io.err(formatUnknownPersona(persona, known));
      return null;
    }
  }
  return unwrapResponse(response, io);
}

/** Formats the error for a name that no persona has, with the most similar name. */
export function formatUnknownPersona(name: string, known: readonly string[]): string {
  const close = findNearest(name, known);
  const hint = close === null ? '' : `did you mean ${displayName(close)}? `;
  return `hivebar: there is no persona ${displayName(name)}: ${hint}see hivebar status\n`;
}

/** Returns the ids of the personas that the running program watches; null when the program cannot be asked. */
async function fetchPersonaNames(env: Io['env']): Promise<readonly string[] | null> {
  const response = await askTray({ method: 'GET', path: '/status.json', body: null }, env);
  if (response.is !== 'answered' || response.status !== 200) return null;
  const { personas } = JSON.parse(response.body) as { readonly personas: readonly { readonly id: string }[] };
  return personas.map(({ id }) => id);
}

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
export function parseReason(body: string): string {
  try {
    const { error } = JSON.parse(body) as { error?: { message?: unknown; next?: unknown } };
    if (typeof error?.message === 'string') return [error.message, error.next].filter(Boolean).join(': ');
  } catch {
    // The body is not JSON and is shown as it is.
  }
  return body.slice(0, 200);
}

/** The positional of commands that act on one persona. */
export const ONE_PERSONA = {
  persona: { value: 'PERSONA', completes: 'persona', missing: 'PERSONA is missing: use the name of a persona' },
} as const;

/** Creates a command that runs one action on one persona. */
export function createPersonaAction(action: {
  readonly name: string;
  readonly about: readonly string[];
  readonly does: string;
  /** Formats the line that is printed on success. */
  readonly done: (persona: string) => string;
}): Command {
  return defineCommand(
    {
      name: action.name,
      about: action.about,
      positionals: ONE_PERSONA,
      examples: [{ run: `hivebar ${action.name} ada`, does: action.does }],
    },
    async ({ persona }, io) => {
      if ((await act(io, action.name, { persona })) === null) return 1;
      io.out(`${action.done(displayName(persona))}\n`);
      return 0;
    },
  );
}
