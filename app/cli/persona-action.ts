import { type Command, defineCommand } from '../../core/command/index.ts';
import { displayName } from '../../core/format/index.ts';
import { act } from './act.ts';

/** The positional of commands that act on one persona. */
export const ONE_PERSONA = {
  persona: { value: 'PERSONA', completes: 'persona', missing: 'who? Give the name of a persona' },
} as const;

export function formatExcessPersonas(words: readonly string[]): string {
  return `one persona at a time, not also ${words.join(' ')}`;
}

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
      messages: { excess: formatExcessPersonas },
    },
    async ({ persona }, io) => {
      if ((await act(io, action.name, { persona })) === null) return 1;
      io.out(`${action.done(displayName(persona))}\n`);
      return 0;
    },
  );
}
