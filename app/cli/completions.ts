import { defineCommand } from '../../core/command/index.ts';
import {
  formatBashCompletion,
  formatFishCompletion,
  formatZshCompletion,
  loadCommandWords,
} from './completion-scripts.ts';

const SHELLS = { bash: formatBashCompletion, zsh: formatZshCompletion, fish: formatFishCompletion } as const;

const SAY = 'say bash, zsh or fish';

export const command = defineCommand(
  {
    name: 'completions',
    about: [
      'Prints a script that completes commands, flags and the names of personas: those that are watched now, or with hivebar',
      'closed those that have an event file.',
    ],
    positionals: {
      shell: { value: 'bash|zsh|fish', completes: ['bash', 'zsh', 'fish'], missing: SAY, parse: parseShell },
    },
    examples: [
      { run: 'eval "$(hivebar completions bash)"', does: 'in ~/.bashrc' },
      { run: 'eval "$(hivebar completions zsh)"', does: 'in ~/.zshrc, behind compinit' },
      { run: 'hivebar completions fish > ~/.config/fish/completions/hivebar.fish', does: 'once' },
    ],
    messages: { excess: () => SAY },
  },
  async ({ shell }, io, commands) => {
    io.out(SHELLS[shell](await loadCommandWords(commands)));
    return 0;
  },
);

function parseShell(text: string): keyof typeof SHELLS {
  if (!Object.hasOwn(SHELLS, text)) throw new Error(SAY);
  return text as keyof typeof SHELLS;
}
