import { posix, win32 } from 'node:path';
import { Fault, type PersonaId } from '../../core/model/index.ts';
import { type Clock, type Log, resolveProgram } from '../../core/ports/index.ts';
import { ownHome } from '../../core/state/index.ts';
import { type Env, programOnPath } from '../programs.node.ts';
import { activationOf, failed, isFolder, launch } from './launch.node.ts';
import type { Click, Opened, Opener, OpenUrl } from './opener.ts';
import { filledArgv, filledUrl, type Values } from './placeholders.ts';
import { choose, type OpenerSetting, type Plan, type Step } from './plan.ts';
import { lifeOf } from './process-life.node.ts';
import type { Session } from './session.ts';
import { appleTerminalArgs, TERMINALS, terminalArgs, windowsTerminalArgs } from './terminals.ts';
import { attachCommand, showPane } from './tmux.node.ts';

export interface SessionOpenerNeeds {
  readonly setting: OpenerSetting;
  /** What the setting `urlSchemes` allows. */
  readonly urlSchemes: readonly string[];
  /** The persona's, newest first. @throws Fault `database` */
  readonly sessions: (persona: PersonaId) => readonly Session[];
  /** Of the board; null for a persona that is not there. */
  readonly about: (persona: PersonaId) => { readonly source: string; readonly newestId: number | null } | null;
  readonly page: Opener;
  readonly openUrl: OpenUrl;
  readonly platform: NodeJS.Platform;
  readonly env: Env;
  readonly clock: Clock;
  readonly log: Log;
}

/** A program that is wrong in itself says so at once. */
const FAILS_WITHIN_MS = 1000;
/** Until a session that was resumed has announced itself; a second click must not resume it twice. */
const RESUMES_WITHIN_MS = 10_000;

/** Opens the session of the persona that was clicked, as the setting `opener` says; without a persona, the page. */
export function sessionOpener(needs: SessionOpenerNeeds): Opener {
  const opening = new Map<PersonaId, Promise<Opened>>();
  const resumed = new Map<PersonaId, number>();
  return {
    name: 'session',
    open: async (click) => {
      if (click.opens.is === 'overview') return await needs.page.open(click);
      const { persona } = click.opens;
      const running = opening.get(persona);
      if (running !== undefined) return await running; // a double click is one wish
      const run = openSession(needs, persona, click, resumed).finally(() => opening.delete(persona));
      opening.set(persona, run);
      return await run;
    },
  };
}

async function openSession(
  needs: SessionOpenerNeeds,
  persona: PersonaId,
  click: Click,
  resumed: Map<PersonaId, number>,
): Promise<Opened> {
  const { clock, log, platform, setting } = needs;
  const plan = choose(needs.sessions(persona), setting, (session) => lifeOf(session.runner, platform));
  const last = plan.steps.length - 1;
  for (const [i, step] of plan.steps.entries()) {
    const resumes = step.is === 'terminal' && step.resume !== null;
    const before = resumed.get(persona);
    if (resumes && before !== undefined && clock.monotonic() - before < RESUMES_WITHIN_MS) return 'none';
    try {
      const opened = await carryOut(needs, persona, step, plan, click);
      if (resumes) resumed.set(persona, clock.monotonic());
      return opened;
    } catch (error) {
      if (i === last || !(error instanceof Fault)) throw error;
      log.info(`open ${persona}: ${error.message}; trying ${plan.steps[i + 1]?.is}`);
    }
  }
  return 'none';
}

async function carryOut(
  needs: SessionOpenerNeeds,
  persona: PersonaId,
  step: Step,
  { session }: Plan,
  click: Click,
): Promise<Opened> {
  const { page, openUrl, env, platform, urlSchemes } = needs;
  const values = (): Values => valuesOf(needs, persona, session);
  switch (step.is) {
    case 'page':
      return await page.open(click);
    case 'url': {
      const url = filledUrl(step.template, values(), urlSchemes);
      if (url === null) return await page.open(click);
      await openUrl(url, click.activationToken);
      return 'url';
    }
    case 'command': {
      const argv = filledArgv('command', step.argv, values());
      if (argv === null) return await page.open(click);
      await run(needs, argv, folderOf(session), values(), click);
      return 'command';
    }
    case 'tmux':
      await showPane(step.pane, env, platform);
      return 'tmux';
    case 'attach':
      await terminal(needs, step.terminal, await attachCommand(step.pane, env, platform), values(), click);
      return 'tmux';
    case 'terminal': {
      const [program, ...args] = step.resume ?? [];
      const argv = program === undefined ? [] : [programOf(program, needs), ...args];
      await terminal(needs, step.terminal, argv, values(), click);
      return 'terminal';
    }
  }
}

function valuesOf({ about }: SessionOpenerNeeds, persona: PersonaId, session: Session | null): Values {
  const known = about(persona);
  return {
    persona,
    source: known?.source ?? null,
    id: known?.newestId?.toString() ?? null,
    session: session?.id ?? null,
    cwd: session?.cwd ?? null,
  };
}

/** Opens a terminal in the session's folder. @param program its own options before, null: the desktop's */
async function terminal(
  needs: SessionOpenerNeeds,
  program: readonly string[] | null,
  argv: readonly string[],
  values: Values,
  click: Click,
): Promise<void> {
  const { cwd } = values;
  if (cwd === null || !isFolder(cwd)) throw failed(`the session's folder ${cwd} is not there any more`);
  if (program === null) return await run(needs, [...desktopTerminal(needs, cwd, argv)], cwd, values, click);
  const filled = filledArgv('terminal', program, values);
  if (filled === null) throw failed('opener terminal: a placeholder has no value for this session');
  await run(needs, [...filled, ...argv], cwd, values, click);
}

/** The terminal of this desktop, with its arguments. */
function desktopTerminal(
  { platform, env }: SessionOpenerNeeds,
  cwd: string,
  argv: readonly string[],
): readonly string[] {
  switch (platform) {
    case 'darwin': {
      const args = appleTerminalArgs(cwd, argv);
      if (args === null) throw failed('Terminal can not be given an argument with a quote, a backslash or "!"');
      return ['/usr/bin/osascript', ...args];
    }
    case 'win32': {
      const args = windowsTerminalArgs(cwd, argv);
      if (args === null) throw failed('Windows Terminal can not be given an argument with a quote or a semicolon');
      return ['wt.exe', ...args];
    }
    default: {
      const names = env.TERMINAL === undefined || env.TERMINAL === '' ? TERMINALS : [env.TERMINAL, ...TERMINALS];
      for (const name of names) {
        const file = posix.isAbsolute(name) ? name : programOnPath(name, env, platform);
        if (file !== null) return [file, ...terminalArgs(posix.basename(name), cwd, argv)];
      }
      throw failed(`no terminal program is on PATH (${TERMINALS.join(', ')}): set opener terminal, or TERMINAL`);
    }
  }
}

async function run(
  needs: SessionOpenerNeeds,
  [program = '', ...args]: readonly string[],
  cwd: string,
  values: Values,
  click: Click,
): Promise<void> {
  const file = programOf(program, needs);
  const env = { ...needs.env, ...namedValues(values), ...activationOf(click.activationToken) };
  await launch({ file, args, cwd, env, failsWithinMs: FAILS_WITHIN_MS }, needs.clock);
}

/** Absolute as it is, else from PATH; never from the current folder. @throws Fault `exec-failed` */
function programOf(program: string, { platform, env }: SessionOpenerNeeds): string {
  const path = platform === 'win32' ? win32 : posix;
  if (path.isAbsolute(program)) return resolveProgram(program, env, platform) ?? program;
  if (/[/\\]/.test(program)) throw failed(`the program ${program} is neither an absolute path nor a name on PATH`);
  const file = programOnPath(program, env, platform);
  if (file !== null) return file;
  throw failed(`the program ${program} is not on PATH`);
}

/** The same values for a program that would rather read them there. */
function namedValues({ persona, source, id, session, cwd }: Values): Env {
  return {
    HIVEBAR_PERSONA: persona,
    HIVEBAR_SOURCE: source ?? undefined,
    HIVEBAR_MESSAGE: id ?? undefined,
    HIVEBAR_SESSION: session ?? undefined,
    HIVEBAR_CWD: cwd ?? undefined,
  };
}

function folderOf(session: Session | null): string {
  return session !== null && isFolder(session.cwd) ? session.cwd : ownHome();
}
