import { parseArgs } from 'node:util';
import { printable } from '../printable.ts';
import { act } from './act.ts';
import type { Command, Io } from './command.ts';
import { usage } from './outcome.ts';

/** A command that does one thing with one persona. */
export function personaAction(of: {
  readonly name: string;
  readonly about: readonly string[];
  readonly does: string;
  /** What is printed once it is done. */
  readonly done: (persona: string) => string;
}): Command {
  return {
    usage: `${of.name} PERSONA`,
    about: of.about,
    examples: [{ run: `hivebar ${of.name} ada`, does: of.does }],
    async run(args: readonly string[], io: Io) {
      const persona = personaIn(args);
      if ((await act(io, of.name, { persona })) === null) return 1;
      io.out(`${of.done(printable(persona))}\n`);
      return 0;
    },
  };
}

function personaIn(args: readonly string[]): string {
  try {
    const { positionals } = parseArgs({ args: [...args], options: {}, allowPositionals: true });
    return onePersona(positionals);
  } catch (error) {
    throw usage(error);
  }
}

/** @throws Error unless exactly one is named */
export function onePersona([persona, ...rest]: readonly string[]): string {
  if (persona === undefined || persona === '') throw new Error('who? Give the name of a persona');
  if (rest.length > 0) throw new Error(`one persona at a time, not also ${rest.join(' ')}`);
  return persona;
}
