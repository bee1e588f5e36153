import { findOwnDirs } from '../../core/state/dirs.node.ts';
import type { Command } from './command.ts';
import { askTray } from './tray-request.node.ts';

/** What no shell could show or a terminal would act on: such a name is typed by hand. */
const UNSAFE = /[\p{Cc}\p{Cf}\u2028\u2029]/u;

/** `hivebar __complete personas`: what the completion scripts ask while a person types. Never fails, never says a word more. */
export const command: Command = {
  usage: '__complete personas',
  about: ['The names of all personas, one a line, for the completion of shells.'],
  examples: [{ run: 'hivebar __complete personas', does: 'the names' }],
  async run(args, io) {
    if (args[0] !== 'personas') return 2;
    const names = (await fetchRunningPersonas(io.env)) ?? (await loadEventFilePersonas(io.env));
    io.out(
      names
        .filter((name) => !UNSAFE.test(name))
        .map((name) => `${name}\n`)
        .join(''),
    );
    return 0;
  },
};

async function fetchRunningPersonas(
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly string[] | null> {
  try {
    const response = await askTray({ method: 'GET', path: '/status.json', body: null }, env);
    if (response.is !== 'answered' || response.status !== 200) return null;
    const { personas } = JSON.parse(response.body) as { readonly personas: readonly { readonly id: string }[] };
    return personas.map(({ id }) => id);
  } catch {
    return null; // a word in the middle of a person's line would help nobody; the files are asked instead
  }
}

/** Loaded only when it is needed: with the program running, the names cost no more than the start of Node. */
async function loadEventFilePersonas(env: Readonly<Record<string, string | undefined>>): Promise<readonly string[]> {
  const { listEventFilePersonas } = await import('./event-file-personas.node.ts');
  return listEventFilePersonas(findOwnDirs({ ...env }).state);
}
