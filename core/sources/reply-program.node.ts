import { Fault } from '../model/index.ts';
import { findProgram, type Variables } from '../ports/index.ts';
import { type ProgramEnd, runProgram } from './run-program.node.ts';
import { toOneLine } from './source-tools.ts';

/** A program that sends what a person typed. Its text is an argument of its own, and no shell is involved. */
export interface ReplyProgram {
  /** Found on PATH, unless `file` says where it is. */
  readonly name: string;
  /** Absolute. */
  readonly file?: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Variables;
  /** What a person reads when it is not on PATH: what to install. */
  readonly missing: string;
  /** Folders where it may be beside PATH. Absent: none. */
  readonly beside?: readonly string[];
  /** The content of its stdin. Absent: nothing. */
  readonly input?: string;
}

/** It stores a message or asks a server to, so nobody has to wait longer. */
const TIMEOUT_MS = 30_000;
const OUTPUT_CHARS = 400;
/** Linux gives one argument 128 KiB at most. */
const MOST_ARGUMENT_BYTES = 120_000;

/**
 * Runs it once.
 * @returns how it ended, unless it never ran or hung
 * @throws Fault `exec-failed`, `exec-timeout`, or `usage` for a text that is too long for an argument
 */
export async function runReplyProgram(
  { name, args, cwd, env, missing, beside, input, ...program }: ReplyProgram,
  signal: AbortSignal,
): Promise<Extract<ProgramEnd, { is: 'exited' }>> {
  const long = args.find((arg) => Buffer.byteLength(arg) > MOST_ARGUMENT_BYTES);
  if (long !== undefined)
    throw createReplyFault(
      'usage',
      `the text has ${Buffer.byteLength(long)} bytes: ${MOST_ARGUMENT_BYTES} fit into one argument of ${name}`,
    );
  const file = program.file ?? findProgram(name, env, process.platform, beside);
  if (file === null)
    throw createReplyFault('exec-failed', `there is no program ${name} on PATH of Hivebar: ${missing}`);
  const end = await runProgram(
    { file, args, cwd, env, timeoutMs: TIMEOUT_MS, ...(input === undefined ? {} : { input }) },
    signal,
  );
  const command = `${name} ${args[0] ?? ''}`.trim();
  if (end.is === 'timeout')
    throw createReplyFault('exec-timeout', `${command} did not end within ${TIMEOUT_MS / 1000} s: it may have sent it`);
  if (end.is === 'failed') throw createReplyFault('exec-failed', `${command}: ${end.why}`);
  return end;
}

/** What a program said when it refused, in one line. */
export function explainRefusal(name: string, { code, stderr, stdout }: Extract<ProgramEnd, { is: 'exited' }>): string {
  const output = toOneLine(stderr.trim() === '' ? stdout : stderr, OUTPUT_CHARS);
  return `${name} ended with ${code}${output === '' ? '' : `: ${output}`}`;
}

export function createReplyFault(
  code: 'usage' | 'exec-failed' | 'exec-timeout' | 'unwritable',
  message: string,
): Fault {
  return new Fault(code, message, { is: 'machine', key: 'reply' });
}
