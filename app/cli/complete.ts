import type { Command } from '../../core/command/index.ts';
import { findOwnDirs } from '../../core/state/dirs.node.ts';
import { askTray } from './tray-request.node.ts';

/** Characters that a shell cannot show or a terminal would act on. Names with them must be typed by hand. */
const UNSAFE = /[\p{Cc}\p{Cf}\u2028\u2029]/u;

/** `hivebar __complete personas`: the completion scripts call it while a person types. It never fails and prints only names. */
export const command: Command = {
  schema: {
    name: '__complete',
    about: ['Prints the names of all personas, one per line, for shell completion.'],
    examples: [{ run: 'hivebar __complete personas', does: 'the names' }],
    positionals: { subject: { value: 'personas', choices: ['personas'] } },
  },
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
    return null; // a message would disturb the line that the person types; the event files are used instead
  }
}

/** Loads this code only when it is needed: while the program runs, the names cost no more than the start of Node. */
async function loadEventFilePersonas(env: Readonly<Record<string, string | undefined>>): Promise<readonly string[]> {
  const { listEventFilePersonas } = await import('./event-file-personas.node.ts');
  return listEventFilePersonas(findOwnDirs({ ...env }).state);
}
