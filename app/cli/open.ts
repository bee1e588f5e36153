import { parseArgs } from 'node:util';
import { printable } from '../printable.ts';
import { act } from './act.ts';
import type { Command, Io } from './command.ts';
import { usage } from './outcome.ts';

export const command: Command = {
  usage: 'open [PERSONA] [--page]',
  about: [
    "Opens the persona's session as a click on its notification does; where there is none, its page. Without PERSONA the",
    'status page.',
    '',
    '  --page   the page in any case',
  ],
  examples: [
    { run: 'hivebar open', does: 'the status page' },
    { run: 'hivebar open ada', does: "ada's session" },
    { run: 'hivebar open ada --page', does: "ada's page" },
  ],
  async run(args, io) {
    const { persona, page } = parsed(args);
    const action = page ? 'page' : 'open';
    const params = { ...(persona === null ? {} : { persona }), ...activation(io) };
    if (!(await act(io, action, params))) return 1;
    io.out(persona === null ? 'opened the status page\n' : `opened ${printable(persona)}\n`);
    return 0;
  },
};

/** What lets the desktop bring the window to the front, where whoever started us has passed it on. */
function activation({ env }: Io): { readonly activationToken?: string } {
  const token = env.XDG_ACTIVATION_TOKEN ?? env.DESKTOP_STARTUP_ID ?? '';
  return token === '' ? {} : { activationToken: token };
}

function parsed(args: readonly string[]): { readonly persona: string | null; readonly page: boolean } {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { page: { type: 'boolean', default: false } },
      allowPositionals: true,
    });
    if (positionals.length > 1) throw new Error(`one persona at a time, or none; not ${positionals.join(' ')}`);
    return { persona: positionals[0] ?? null, page: values.page };
  } catch (error) {
    throw usage(error);
  }
}
