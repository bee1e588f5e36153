import { type ProcessEnd, realSpawn } from '../../core/ports/index.ts';

export interface ProgramRun {
  /** The program and its arguments. No shell is involved. */
  readonly argv: readonly string[];
  /** The whole environment of the program. */
  readonly env: Readonly<Record<string, string>>;
  /** Text for its stdin. The program need not read it. */
  readonly input: string;
  readonly killAfterMs: number;
}

/**
 * Runs a program to its end. It runs in its own process group, which is killed as a whole when the time is up or `stop` aborts.
 * Its stdout is ours. A name without a slash is searched for on PATH, never in the current folder. Never rejects.
 */
export async function runProgram(
  { argv, env, input, killAfterMs }: ProgramRun,
  stop: AbortSignal,
): Promise<ProcessEnd> {
  const [file = '', ...args] = argv;
  return await realSpawn.run({ file, args, env, input, stdout: 'inherit', timeoutMs: killAfterMs }, stop);
}
