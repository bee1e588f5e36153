import { parseArgs } from 'node:util';
import type { TextCommand } from '../../core/command/index.ts';
import { toUsageFault } from '../../core/command/index.ts';
import { formatBashCompletion } from './completion-bash.ts';
import { formatFishCompletion } from './completion-fish.ts';
import { formatZshCompletion } from './completion-zsh.ts';
import { loadCommandWords } from './help-completions.ts';

const SHELLS = { bash: formatBashCompletion, zsh: formatZshCompletion, fish: formatFishCompletion } as const;

export const command: TextCommand = {
  usage: 'completions bash|zsh|fish',
  about: [
    'Prints a script that completes commands, flags and the names of personas: those that are watched now, or with hivebar',
    'closed those that have an event file.',
  ],
  examples: [
    { run: 'eval "$(hivebar completions bash)"', does: 'in ~/.bashrc' },
    { run: 'eval "$(hivebar completions zsh)"', does: 'in ~/.zshrc, behind compinit' },
    { run: 'hivebar completions fish > ~/.config/fish/completions/hivebar.fish', does: 'once' },
  ],
  async run(args, io, commands) {
    const shell = parseShell(args);
    io.out(SHELLS[shell](await loadCommandWords(commands)));
    return 0;
  },
};

function parseShell(args: readonly string[]): keyof typeof SHELLS {
  try {
    const { positionals } = parseArgs({ args: [...args], options: {}, allowPositionals: true });
    const [shell = '', ...rest] = positionals;
    if (!Object.hasOwn(SHELLS, shell) || rest.length > 0) throw new Error('say bash, zsh or fish');
    return shell as keyof typeof SHELLS;
  } catch (error) {
    throw toUsageFault(error);
  }
}
