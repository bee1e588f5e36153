import { spawn } from 'node:child_process';
import { win32 } from 'node:path';
import type { Clock } from '../../core/ports/index.ts';
import { isProgram, type ProgramEnv, programOnPath } from '../programs.node.ts';

export interface ClipboardNeeds {
  readonly platform: NodeJS.Platform;
  readonly env: ProgramEnv;
  readonly clock: Clock;
}

export type CopyResult =
  | { readonly is: 'copied'; readonly by: string }
  /** Nothing was copied. `why` says what would help. */
  | { readonly is: 'failed'; readonly why: string };

interface ClipboardProgram {
  readonly file: string;
  readonly args: readonly string[];
  readonly encoding: BufferEncoding;
}

/** The programs read the text, leave a child process that provides it, and end within this time. */
const ENDS_WITHIN_MS = 3000;

/**
 * Puts text on the clipboard with the desktop's own program: `wl-copy`, `xclip` or `xsel`, `pbcopy`, `clip.exe`. The text goes to
 * its standard input, so nothing in it can be an option or a command. The child process that provides the text belongs to the
 * desktop, and stays when Hivebar ends.
 */
export async function copyText(text: string, needs: ClipboardNeeds): Promise<CopyResult> {
  const programs = listClipboardPrograms(needs.platform, needs.env);
  const failures: string[] = [];
  for (const program of programs) {
    const failure = await writeToProgram(text, program, needs);
    if (failure === null) return { is: 'copied', by: program.file };
    failures.push(failure);
  }
  if (failures.length > 0) return { is: 'failed', why: failures.join('; ') };
  return { is: 'failed', why: 'no clipboard program (Debian: apt-get install xclip, or wl-clipboard)' };
}

function listClipboardPrograms(platform: NodeJS.Platform, env: ProgramEnv): ClipboardProgram[] {
  if (platform === 'darwin') return [{ file: '/usr/bin/pbcopy', args: [], encoding: 'utf8' }];
  if (platform === 'win32') {
    const file = win32.join(env.SystemRoot ?? 'C:\\Windows', 'System32', 'clip.exe');
    return [{ file, args: [], encoding: 'utf16le' }]; // in any other encoding it reads non-ASCII as the code page's
  }
  const findPrograms = (is: string | undefined, name: string, args: readonly string[]): ClipboardProgram[] => {
    const file = is ? programOnPath(name, env, platform) : null;
    return file === null ? [] : [{ file, args, encoding: 'utf8' }];
  };
  return [
    ...findPrograms(env.WAYLAND_DISPLAY, 'wl-copy', []),
    ...findPrograms(env.DISPLAY, 'xclip', ['-selection', 'clipboard']),
    ...findPrograms(env.DISPLAY, 'xsel', ['--clipboard', '--input']),
  ];
}

/** Returns null when the program accepted the text. */
function writeToProgram(
  text: string,
  program: ClipboardProgram,
  { env, clock }: ClipboardNeeds,
): Promise<string | null> {
  const { file, args, encoding } = program;
  if (!isProgram(file)) return Promise.resolve(`${file} does not exist`);
  return new Promise((resolve) => {
    // Only its input is a pipe. The child process that it leaves would hold other pipes open.
    const child = spawn(file, [...args], {
      env: { ...env },
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
      windowsHide: true,
    });
    const limit = clock.after(ENDS_WITHIN_MS, () => {
      child.kill('SIGKILL');
      resolve(`${file} did not end within ${ENDS_WITHIN_MS / 1000} s`);
    });
    const over = (failure: string | null): void => {
      limit[Symbol.dispose]();
      resolve(failure);
    };
    child.on('error', (error) => over(`${file} could not be started: ${error.message}`));
    child.on('exit', (code, signal) => over(code === 0 ? null : `${file} ended with ${signal ?? code}`));
    child.stdin.on('error', () => {}); // it ended without reading: `exit` reports it
    child.stdin.end(text, encoding);
  });
}
