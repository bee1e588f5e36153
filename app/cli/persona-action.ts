import { parseArgs } from 'node:util';
import { displayName } from '../../core/format/index.ts';
import { act } from './act.ts';
import type { Command, Io } from './command.ts';
import { toUsageFault } from './outcome.ts';

/** Creates a command that runs one action on one persona. */
export function createPersonaAction(action: {
  readonly name: string;
  readonly about: readonly string[];
  readonly does: string;
  /** Formats the line that is printed on success. */
  readonly done: (persona: string) => string;
}): Command {
  return {
    usage: `${action.name} PERSONA`,
    about: action.about,
    examples: [{ run: `hivebar ${action.name} ada`, does: action.does }],
    async run(args: readonly string[], io: Io) {
      const persona = parsePersona(args);
      if ((await act(io, action.name, { persona })) === null) return 1;
      io.out(`${action.done(displayName(persona))}\n`);
      return 0;
    },
  };
}

function parsePersona(args: readonly string[]): string {
  try {
    const { positionals } = parseArgs({ args: [...args], options: {}, allowPositionals: true });
    return requireOnePersona(positionals);
  } catch (error) {
    throw toUsageFault(error);
  }
}

/** @throws Error unless exactly one persona is named */
export function requireOnePersona([persona, ...rest]: readonly string[]): string {
  if (persona === undefined || persona === '') throw new Error('who? Give the name of a persona');
  if (rest.length > 0) throw new Error(`one persona at a time, not also ${rest.join(' ')}`);
  return persona;
}
