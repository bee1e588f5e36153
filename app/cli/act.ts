import { printable } from '../printable.ts';
import { askTray } from './ask-tray.node.ts';
import type { Io } from './command.ts';
import { nearest } from './nearest.ts';
import { answered } from './outcome.ts';

/**
 * Has the running program do one thing, and gives its answer. Null: it did not, and the person has been told why and what to
 * do; a persona that is not there with the name that was probably meant.
 */
export async function act(io: Io, action: string, params: Readonly<Record<string, unknown>>): Promise<string | null> {
  const asked = await askTray(
    { method: 'POST', path: `/api/v1/actions/${action}`, body: JSON.stringify(params) },
    io.env,
  );
  const isRefused = asked.is === 'answered' && asked.status >= 400;
  const { persona } = params;
  if (isRefused && typeof persona === 'string') {
    const known = await knownPersonas(io.env);
    if (known !== null && !known.includes(persona)) {
      const close = nearest(persona, known);
      const hint = close === null ? '' : `did you mean ${printable(close)}? `;
      io.err(`hivebar: there is no persona ${printable(persona)}: ${hint}see hivebar status\n`);
      return null;
    }
  }
  return answered(asked, io);
}

/** Whom the running program watches, null when it can not be asked. */
export async function knownPersonas(env: Io['env']): Promise<readonly string[] | null> {
  const asked = await askTray({ method: 'GET', path: '/status.json', body: null }, env);
  if (asked.is !== 'answered' || asked.status !== 200) return null;
  const { personas } = JSON.parse(asked.body) as { readonly personas: readonly { readonly id: string }[] };
  return personas.map(({ id }) => id);
}
