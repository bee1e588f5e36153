import type { Io } from '../../core/command/index.ts';
import { displayName } from '../../core/format/index.ts';
import { findNearest } from './nearest.ts';
import { unwrapResponse } from './outcome.ts';
import { askTray } from './tray-request.node.ts';

/**
 * Runs one action in the running program and returns its answer. Null: the action failed, and the person was told why and what
 * to do. For an unknown persona the message suggests the most similar name.
 */
export async function act(io: Io, action: string, params: Readonly<Record<string, unknown>>): Promise<string | null> {
  const response = await askTray(
    { method: 'POST', path: `/api/v1/actions/${action}`, body: JSON.stringify(params) },
    io.env,
  );
  const isRefused = response.is === 'answered' && response.status >= 400;
  const { persona } = params;
  if (isRefused && typeof persona === 'string') {
    const known = await fetchPersonaNames(io.env);
    if (known !== null && !known.includes(persona)) {
      const close = findNearest(persona, known);
      const hint = close === null ? '' : `did you mean ${displayName(close)}? `;
      io.err(`hivebar: there is no persona ${displayName(persona)}: ${hint}see hivebar status\n`);
      return null;
    }
  }
  return unwrapResponse(response, io);
}

/** Returns the ids of the personas that the running program watches; null when the program cannot be asked. */
export async function fetchPersonaNames(env: Io['env']): Promise<readonly string[] | null> {
  const response = await askTray({ method: 'GET', path: '/status.json', body: null }, env);
  if (response.is !== 'answered' || response.status !== 200) return null;
  const { personas } = JSON.parse(response.body) as { readonly personas: readonly { readonly id: string }[] };
  return personas.map(({ id }) => id);
}
