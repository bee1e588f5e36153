import { ownDirs } from '../../core/state/dirs.node.ts';
import { askTray } from './ask-tray.node.ts';
import type { Command } from './command.ts';

/** What no shell could show or a terminal would act on: such a name is typed by hand. */
const UNSAFE = /[\p{Cc}\p{Cf}\u2028\u2029]/u;

/** `hivebar __complete personas`: what the completion scripts ask while a person types. Never fails, never says a word more. */
export const command: Command = {
  usage: '__complete personas',
  about: ['The names of all personas, one a line, for the completion of shells.'],
  examples: [{ run: 'hivebar __complete personas', does: 'the names' }],
  async run(args, io) {
    if (args[0] !== 'personas') return 2;
    const names = (await running(io.env)) ?? (await kept(io.env));
    io.out(
      names
        .filter((name) => !UNSAFE.test(name))
        .map((name) => `${name}\n`)
        .join(''),
    );
    return 0;
  },
};

async function running(env: Readonly<Record<string, string | undefined>>): Promise<readonly string[] | null> {
  try {
    const asked = await askTray({ method: 'GET', path: '/status.json', body: null }, env);
    if (asked.is !== 'answered' || asked.status !== 200) return null;
    const { personas } = JSON.parse(asked.body) as { readonly personas: readonly { readonly id: string }[] };
    return personas.map(({ id }) => id);
  } catch {
    return null; // a word in the middle of a person's line would help nobody; the files are asked instead
  }
}

/** Loaded only when it is needed: with the program running, the names cost no more than the start of Node. */
async function kept(env: Readonly<Record<string, string | undefined>>): Promise<readonly string[]> {
  const { keptPersonas } = await import('./kept-personas.node.ts');
  return keptPersonas(ownDirs({ ...env }).state);
}
