import { COMMANDS } from '../../app/cli/commands.ts';
import { dispatch } from '../../app/cli/dispatch.ts';

export interface Output {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** The command line in this process: what it would end with, and what it says. `stdin` is given whole. */
export async function commandLine(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  stdin = '',
): Promise<Output> {
  let out = '';
  let err = '';
  const io = {
    env,
    out: (text: string) => {
      out += text;
    },
    err: (text: string) => {
      err += text;
    },
    input: async () => stdin,
  };
  return { code: await dispatch(args, io, COMMANDS), out, err };
}
