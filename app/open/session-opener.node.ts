import { posix, win32 } from 'node:path';
import { Fault, type PersonaId } from '../../core/model/index.ts';
import { type Clock, type Log, resolveProgram } from '../../core/ports/index.ts';
import { findOwnHome } from '../../core/state/index.ts';
import { type ProgramEnv, programOnPath } from '../programs.node.ts';
import {
  choosePlan,
  fillArgv,
  fillUrl,
  type OpenerSetting,
  type OpeningPlan,
  type OpeningStep,
  type PlaceholderValues,
} from './placeholders.ts';
import { checkLiveness } from './process-liveness.node.ts';
import {
  buildAppleTerminalArgs,
  buildTerminalArgs,
  buildWindowsTerminalArgs,
  type Session,
  TERMINALS,
} from './session.ts';
import { buildAttachCommand, showPane } from './tmux.node.ts';
import {
  type Click,
  createOpenFault,
  isFolder,
  launch,
  type Opener,
  type OpenResult,
  type OpenUrl,
  toActivationEnv,
} from './url-opener.node.ts';

export interface SessionOpenerNeeds {
  readonly setting: OpenerSetting;
  /** What the setting `urlSchemes` allows. */
  readonly urlSchemes: readonly string[];
  /** Returns the sessions of the persona, newest first. @throws Fault `database` */
  readonly sessions: (persona: PersonaId) => readonly Session[];
  /** Reads a persona from the board; null when it is not there. */
  readonly about: (persona: PersonaId) => { readonly source: string; readonly newestId: number | null } | null;
  readonly page: Opener;
  readonly openUrl: OpenUrl;
  readonly platform: NodeJS.Platform;
  readonly env: ProgramEnv;
  readonly clock: Clock;
  readonly log: Log;
}

/** A program that cannot run at all fails within this time. */
const FAILS_WITHIN_MS = 1000;
/** The time until a resumed session has announced itself. A second click must not resume it twice. */
const RESUMES_WITHIN_MS = 10_000;

/** Opens the session of the clicked persona as the setting `opener` says, or the page when no persona was clicked. */
export function createSessionOpener(needs: SessionOpenerNeeds): Opener {
  const opening = new Map<PersonaId, Promise<OpenResult>>();
  const resumed = new Map<PersonaId, number>();
  return {
    name: 'session',
    open: async (click) => {
      if (click.opens.is === 'overview') return await needs.page.open(click);
      const { persona } = click.opens;
      const running = opening.get(persona);
      if (running !== undefined) return await running; // a double click counts once
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
): Promise<OpenResult> {
  const { clock, log, platform, setting } = needs;
  const plan = choosePlan(needs.sessions(persona), setting, (session) => checkLiveness(session.runner, platform));
  const last = plan.steps.length - 1;
  for (const [i, step] of plan.steps.entries()) {
    const resumes = step.is === 'terminal' && step.resume !== null;
    const before = resumed.get(persona);
    if (resumes && before !== undefined && clock.monotonic() - before < RESUMES_WITHIN_MS) return 'none';
    try {
      const opened = await runStep(needs, persona, step, plan, click);
      if (resumes) resumed.set(persona, clock.monotonic());
      return opened;
    } catch (error) {
      if (i === last || !(error instanceof Fault)) throw error;
      log.info(`open ${persona}: ${error.message}; trying ${plan.steps[i + 1]?.is}`);
    }
  }
  return 'none';
}

async function runStep(
  needs: SessionOpenerNeeds,
  persona: PersonaId,
  step: OpeningStep,
  { session }: OpeningPlan,
  click: Click,
): Promise<OpenResult> {
  const { page, openUrl, env, platform, urlSchemes } = needs;
  const getValues = (): PlaceholderValues => collectValues(needs, persona, session);
  switch (step.is) {
    case 'refuse':
      throw step.fault;
    case 'page':
      return await page.open(click);
    case 'url': {
      const url = fillUrl(step.template, getValues(), urlSchemes);
      if (url === null) return await page.open(click);
      await openUrl(url, click.activationToken);
      return 'url';
    }
    case 'command': {
      const argv = fillArgv('command', step.argv, getValues());
      if (argv === null) return await page.open(click);
      await runCommand(needs, argv, findFolder(session), getValues(), click);
      return 'command';
    }
    case 'tmux':
      await showPane(step.pane, env, platform);
      return 'tmux';
    case 'attach':
      await openTerminal(needs, step.terminal, await buildAttachCommand(step.pane, env, platform), getValues(), click);
      return 'tmux';
    case 'terminal': {
      const [program, ...args] = step.resume ?? [];
      const argv = program === undefined ? [] : [resolveProgramPath(program, needs), ...args];
      await openTerminal(needs, step.terminal, argv, getValues(), click);
      return 'terminal';
    }
  }
}

function collectValues({ about }: SessionOpenerNeeds, persona: PersonaId, session: Session | null): PlaceholderValues {
  const known = about(persona);
  return {
    persona,
    source: known?.source ?? null,
    id: known?.newestId?.toString() ?? null,
    session: session?.id ?? null,
    cwd: session?.cwd ?? null,
  };
}

/** Opens a terminal in the session's folder. @param program the terminal program with its options; null for the desktop's own */
async function openTerminal(
  needs: SessionOpenerNeeds,
  program: readonly string[] | null,
  argv: readonly string[],
  values: PlaceholderValues,
  click: Click,
): Promise<void> {
  const { cwd } = values;
  if (cwd === null || !isFolder(cwd)) throw createOpenFault(`the session's folder ${cwd} no longer exists`);
  if (program === null) return await runCommand(needs, [...findDesktopTerminal(needs, cwd, argv)], cwd, values, click);
  const filled = fillArgv('terminal', program, values);
  if (filled === null) throw createOpenFault('opener terminal: a placeholder has no value for this session');
  await runCommand(needs, [...filled, ...argv], cwd, values, click);
}

/** Finds the terminal of this desktop, with its arguments. */
function findDesktopTerminal(
  { platform, env }: SessionOpenerNeeds,
  cwd: string,
  argv: readonly string[],
): readonly string[] {
  switch (platform) {
    case 'darwin': {
      const args = buildAppleTerminalArgs(cwd, argv);
      if (args === null) throw createOpenFault('Terminal cannot be given an argument with a quote, a backslash or "!"');
      return ['/usr/bin/osascript', ...args];
    }
    case 'win32': {
      const args = buildWindowsTerminalArgs(cwd, argv);
      if (args === null)
        throw createOpenFault('Windows Terminal cannot be given an argument with a quote or a semicolon');
      return ['wt.exe', ...args];
    }
    default: {
      const names = env.TERMINAL === undefined || env.TERMINAL === '' ? TERMINALS : [env.TERMINAL, ...TERMINALS];
      for (const name of names) {
        const file = posix.isAbsolute(name) ? name : programOnPath(name, env, platform);
        if (file !== null) return [file, ...buildTerminalArgs(posix.basename(name), cwd, argv)];
      }
      throw createOpenFault(
        `no terminal program is on PATH (${TERMINALS.join(', ')}): set opener terminal, or TERMINAL`,
      );
    }
  }
}

async function runCommand(
  needs: SessionOpenerNeeds,
  [program = '', ...args]: readonly string[],
  cwd: string,
  values: PlaceholderValues,
  click: Click,
): Promise<void> {
  const file = resolveProgramPath(program, needs);
  const env = { ...needs.env, ...toPlaceholderEnv(values), ...toActivationEnv(click.activationToken) };
  await launch({ file, args, cwd, env, failsWithinMs: FAILS_WITHIN_MS }, needs.clock);
}

/** Returns an absolute path: the given one, or from PATH. The current folder is never searched. @throws Fault `exec-failed` */
function resolveProgramPath(program: string, { platform, env }: SessionOpenerNeeds): string {
  const path = platform === 'win32' ? win32 : posix;
  if (path.isAbsolute(program)) return resolveProgram(program, env, platform) ?? program;
  if (/[/\\]/.test(program))
    throw createOpenFault(`the program ${program} is neither an absolute path nor a name on PATH`);
  const file = programOnPath(program, env, platform);
  if (file !== null) return file;
  throw createOpenFault(`the program ${program} is not on PATH`);
}

/** Returns the same values as environment variables, for a program that reads them there. */
function toPlaceholderEnv({ persona, source, id, session, cwd }: PlaceholderValues): ProgramEnv {
  return {
    HIVEBAR_PERSONA: persona,
    HIVEBAR_SOURCE: source ?? undefined,
    HIVEBAR_MESSAGE: id ?? undefined,
    HIVEBAR_SESSION: session ?? undefined,
    HIVEBAR_CWD: cwd ?? undefined,
  };
}

function findFolder(session: Session | null): string {
  return session !== null && isFolder(session.cwd) ? session.cwd : findOwnHome();
}
