import { spawn } from 'node:child_process';
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, win32 } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Fault, type PersonaId } from '../../core/model/index.ts';
import { type Clock, type Invocation, realRandom, toInvocation } from '../../core/ports/index.ts';
import { isProgram, type ProgramEnv, programOnPath } from '../programs.node.ts';

interface UrlOpenerNeeds {
  readonly platform: NodeJS.Platform;
  readonly env: ProgramEnv;
  readonly clock: Clock;
}

/** xdg-open may run for as long as the browser that it started. */
const FAILS_WITHIN_MS = 3000;

/**
 * Passes a URL to the desktop's own opener, as one argument of a program with an absolute path. No shell is used, and nothing
 * from the current folder. The program is detached and may outlive us.
 */
export function createUrlOpener({ platform, env, clock }: UrlOpenerNeeds): OpenUrl {
  return async (url, activationToken) => {
    const [file, ...args] = findOpenCommand(url, platform, env);
    const childEnv = { ...env, ...toActivationEnv(activationToken) };
    await launch({ file, args, cwd: null, env: childEnv, failsWithinMs: FAILS_WITHIN_MS }, clock);
  };
}

/** Returns the program, by its absolute path, and its arguments. @throws Fault `exec-failed` when there is none */
export function findOpenCommand(
  url: string,
  platform: NodeJS.Platform,
  env: ProgramEnv,
): readonly [string, ...string[]] {
  switch (platform) {
    case 'darwin':
      return ['/usr/bin/open', url];
    case 'win32': {
      // `start` is a command of the shell; this is what it does with a URL.
      const dll = win32.join(env.SystemRoot ?? 'C:\\Windows', 'System32', 'rundll32.exe');
      return [dll, 'url.dll,FileProtocolHandler', url];
    }
    default: {
      const file = programOnPath('xdg-open', env, platform);
      if (file === null) throw createOpenFault('xdg-open is not on PATH (Debian: apt-get install xdg-utils)');
      return [file, url];
    }
  }
}

interface Launch {
  /** An absolute path. */
  readonly file: string;
  readonly args: readonly string[];
  /** An absolute path; null for our current directory. */
  readonly cwd: string | null;
  /** The whole environment of the child process. */
  readonly env: ProgramEnv;
  /** A program that fails does so within this time. One that still runs then has opened its window. */
  readonly failsWithinMs: number;
}

/**
 * Starts a program that may outlive us. It gets its arguments unchanged, no shell, none of our open files, and a process group of
 * its own. Resolves when it ended with success, or still runs after `failsWithinMs`.
 * @throws Fault `exec-failed`
 */
export async function launch({ file, args, cwd, env, failsWithinMs }: Launch, clock: Clock): Promise<void> {
  if (!isProgram(file)) throw createOpenFault(`${file} is not an executable program`);
  if (cwd !== null && !isFolder(cwd)) throw createOpenFault(`the folder ${cwd} does not exist`);
  const ended = new Promise<number | string>((resolve, reject) => {
    const start = buildInvocation(file, args, env);
    const child = spawn(start.file, [...start.args], {
      windowsVerbatimArguments: start.windowsVerbatimArguments,
      env: { ...env },
      stdio: 'ignore',
      detached: true,
      windowsHide: true,
      ...(cwd === null ? {} : { cwd }),
    });
    child.unref();
    child.on('error', (error) => reject(createOpenFault(`${file} could not be started: ${error.message}`, error)));
    child.on('exit', (code, signal) => resolve(code ?? signal ?? 'a signal'));
  });
  using stack = new DisposableStack();
  const stillRuns = new Promise<0>((resolve) => {
    stack.use(clock.after(failsWithinMs, () => resolve(0)));
  });
  const code = await Promise.race([ended, stillRuns]);
  if (code !== 0) throw createOpenFault(`${file} ended with ${code}`);
}

/** @throws Fault `exec-failed` for an argument that cannot be passed to a batch file of Windows */
function buildInvocation(file: string, args: readonly string[], env: ProgramEnv): Invocation {
  try {
    return toInvocation(file, args, env, process.platform);
  } catch (error) {
    throw createOpenFault(error instanceof Error ? error.message : String(error), error);
  }
}

/** Returns the desktop's permission to raise a window, under the variable names that programs read. */
export function toActivationEnv(token: string | null): ProgramEnv {
  return token === null ? {} : { XDG_ACTIVATION_TOKEN: token, DESKTOP_STARTUP_ID: token };
}

export function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false; // it does not exist or cannot be run: that is the answer, not a failure
  }
}

export function createOpenFault(message: string, cause?: unknown): Fault {
  return new Fault('exec-failed', message, { is: 'machine', key: 'open' }, { cause });
}

interface PageOpenerNeeds {
  /** Returns the address of the click's target. It may contain a one-time code. */
  readonly createUrl: (opens: ClickTarget) => string | Promise<string>;
  /** The port of our server. */
  readonly port: number;
  /** Writes the address into a file that only its owner can read, and returns the URL of that file. */
  readonly conceal: (address: string) => string;
  readonly openUrl: OpenUrl;
}

/**
 * Opens the status page in the person's browser. The desktop is only ever given our own page on loopback, and its address is
 * never in the arguments of a program.
 */
export function createPageOpener({ createUrl, port, conceal, openUrl }: PageOpenerNeeds): Opener {
  return {
    name: 'page',
    open: async ({ opens, activationToken }) => {
      const url = await createUrl(opens);
      if (!isOurPage(url, port)) {
        throw new Fault('internal', `not an address of the status page: ${url}`, { is: 'machine', key: 'open' });
      }
      await openUrl(conceal(url), activationToken);
      return 'page';
    },
  };
}

/** Matches `http://127.0.0.1:PORT/...` or `http://[::1]:PORT/...` in exactly this spelling, without a user name. */
export function isOurPage(url: string, port: number): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname, port: urlPort, username, password, href } = new URL(url);
  return (
    protocol === 'http:' &&
    (hostname === '127.0.0.1' || hostname === '[::1]') &&
    Number(urlPort === '' ? 80 : urlPort) === port &&
    username === '' &&
    password === '' &&
    href === url // only one spelling: what was checked is what is opened
  );
}

/** What a click opens. */
export type ClickTarget = { readonly is: 'persona'; readonly persona: PersonaId } | { readonly is: 'overview' };

/** A click, with its target and, where the desktop gave one, its permission to raise a window. */
export interface Click {
  readonly opens: ClickTarget;
  readonly activationToken: string | null;
}

/** What a click opened. `none` means nothing, because the session is already being opened. */
export type OpenResult = 'tmux' | 'terminal' | 'command' | 'url' | 'page' | 'none';

/** One way to open the target of a click. */
export interface Opener {
  readonly name: 'page' | 'session';
  /**
   * @throws Fault `exec-failed` when nothing could be opened, `settings` when the settings ask for something that is not allowed
   */
  open(click: Click): Promise<OpenResult>;
}

/** Hands a URL to the desktop. @throws Fault `exec-failed` */
export type OpenUrl = (url: string, activationToken: string | null) => Promise<void>;

/** The lifetime of a one-time link. */
const LIFETIME_MS = 60_000;
const NAME = /^open-[0-9a-f]{16}\.html$/;

/** Holds addresses with a one-time code, each in a file that only its owner can read. */
export interface RedirectFiles extends Disposable {
  /**
   * Writes a page that leads a browser to `address`, and returns the `file://` URL of that page. The page is removed after a
   * minute.
   * @throws Fault `exec-failed` when it cannot be written
   */
  write(address: string): string;
}

/**
 * Keeps one-time codes out of the browser's command line, which every user of the machine can read. The browser opens a file in
 * the run directory, and the file contains the address. Files of an earlier process are removed.
 */
export function openRedirectFiles(directory: string, clock: Clock): RedirectFiles {
  const timers = new Map<string, Disposable>();
  for (const name of readdirSync(directory)) if (NAME.test(name)) rmSync(join(directory, name), { force: true });

  const remove = (path: string): void => {
    timers.get(path)?.[Symbol.dispose]();
    timers.delete(path);
    rmSync(path, { force: true });
  };
  return {
    write: (address) => {
      const path = join(directory, `open-${realRandom.hex(8)}.html`);
      try {
        writeFileSync(path, formatRedirect(address), { flag: 'wx', mode: 0o600 });
      } catch (error) {
        throw createOpenFault(
          `${path} could not be written: ${error instanceof Error ? error.message : String(error)}`,
          error,
        );
      }
      timers.set(
        path,
        clock.after(LIFETIME_MS, () => remove(path)),
      );
      return pathToFileURL(path).href;
    },
    [Symbol.dispose]: () => {
      for (const path of timers.keys()) remove(path);
    },
  };
}

function formatRedirect(address: string): string {
  const url = address.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
  return [
    '<!doctype html>',
    '<meta charset="utf-8">',
    '<meta name="referrer" content="no-referrer">',
    `<meta http-equiv="refresh" content="0;url=${url}">`,
    '<title>Hivebar</title>',
    `<p><a href="${url}">Open the status page</a></p>`,
    '',
  ].join('\n');
}
