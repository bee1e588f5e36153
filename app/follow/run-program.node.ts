import { type ProcessEnd, realSpawn } from '../../core/ports/index.ts';

export interface ProgramRun {
  /** The program and its arguments; no shell has a part in it. */
  readonly argv: readonly string[];
  /** Its whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** What it finds on its stdin; whether it reads it is its own affair. */
  readonly input: string;
  readonly killAfterMs: number;
}

/**
 * Runs a program to its end, in a process group of its own that is killed as a whole when its time is up or `stop` aborts.
 * Its stdout is ours. A name without a slash is looked for on PATH, never in the current folder. Never rejects.
 */
export async function runProgram(
  { argv, env, input, killAfterMs }: ProgramRun,
  stop: AbortSignal,
): Promise<ProcessEnd> {
  const [file = '', ...args] = argv;
  return await realSpawn.run({ file, args, env, input, stdout: 'inherit', timeoutMs: killAfterMs }, stop);
}
