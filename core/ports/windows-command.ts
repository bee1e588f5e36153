import { win32 } from 'node:path';
import { readVariable, type Variables } from './find-program.ts';

/** The arguments for Node's `spawn`. */
export interface Invocation {
  readonly file: string;
  readonly args: readonly string[];
  /** The arguments are already parts of a command line: Node joins them with spaces and quotes nothing. Windows only. */
  readonly windowsVerbatimArguments: boolean;
}

/**
 * Returns how to start a program. Windows starts batch files (`.cmd`, `.bat`, such as everything that npm installs)
 * only through cmd.exe, and Node refuses them (EINVAL). So they get a command line with every word in quotes.
 *
 * @throws Error for a word that cmd.exe would change: the message names the word and what to do instead
 */
export function toInvocation(
  file: string,
  args: readonly string[],
  env: Variables,
  platform: NodeJS.Platform,
): Invocation {
  if (platform !== 'win32' || !/\.(?:cmd|bat)$/i.test(file)) return { file, args, windowsVerbatimArguments: false };
  const words = [file, ...args].map((word) => quoteForBatch(word, file));
  return runByCmd(words.join(' '), env, '/v:off');
}

/**
 * Passes a command line to cmd.exe unchanged: `/s` removes only the outer quotes, which this function adds.
 * @param delayed whether cmd.exe replaces `!NAME!`, which it does after it has parsed the line
 */
export function runByCmd(line: string, env: Variables, delayed: '/v:on' | '/v:off'): Invocation {
  return { file: findCmd(env), args: ['/d', delayed, '/s', '/c', `"${line}"`], windowsVerbatimArguments: true };
}

/** Returns the absolute path of cmd.exe, so that nothing is looked up in the current folder. */
function findCmd(env: Variables): string {
  const named = readVariable(env, 'ComSpec', 'win32');
  return named !== undefined && win32.isAbsolute(named) ? named : toSystem32Path('cmd.exe', env);
}

export function toSystem32Path(program: string, env: Variables): string {
  return win32.join(readVariable(env, 'SystemRoot', 'win32') ?? 'C:\\Windows', 'System32', program);
}

/** In quotes, cmd.exe changes only these: a quote ends the quotes, `%NAME%` is replaced, a line break ends the command. */
const UNQUOTABLE = /["%\r\n\0]/;

function quoteForBatch(word: string, file: string): string {
  const character = UNQUOTABLE.exec(word)?.[0];
  if (character !== undefined) {
    const characterName = { '"': 'a double quote', '%': 'a percent sign', '\0': 'a NUL' }[character] ?? 'a line break';
    const wordExcerpt = JSON.stringify(word.length > 60 ? `${word.slice(0, 60)}...` : word);
    throw new Error(
      `${file} is a batch file, and cmd.exe cannot pass ${wordExcerpt} on to it, which has ${characterName}: name the .exe behind it (for npm: node and the script), or pass the text on stdin or in a variable`,
    );
  }
  return `"${word.replace(/\\+$/, '$&$&')}"`; // the program behind the batch file reads \" as a quote
}
