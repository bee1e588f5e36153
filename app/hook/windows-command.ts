import type { HarnessSetup } from '../../core/hooks/index.ts';
import { Fault } from '../../core/model/index.ts';
import { CMD_ENDING, requireCmdPersona } from './cmd-script.ts';

/** A shell of Windows that runs our script for cmd. */
export type CmdShell = Exclude<NonNullable<HarnessSetup['windows']>['shell'], 'sh'>;

/** The words of a command: the script for cmd, and its arguments. */
interface CmdCall {
  readonly script: string;
  readonly harness: string;
  readonly event: string;
  readonly persona: string | null;
}

/** How a command of each shell begins, up to the end of the script, and how it quotes a persona. */
const FORMS: Readonly<
  Record<CmdShell, { readonly start: (script: string) => string; readonly quote: (persona: string) => string }>
> = {
  // cmd removes the first and the last quote of a line that begins with a quote and has more than two.
  cmd: { start: (script) => `call "${script}"`, quote: (persona) => `"${persona}"` },
  powershell: {
    start: (script) => `& '${script.replaceAll("'", "''")}'`,
    quote: (persona) => `'${persona}'`,
  },
  'cmd or powershell': { start: (script) => `cmd /d /c call "${script}"`, quote: (persona) => `"${persona}"` },
  'cmd, no quotes': { start: (script) => script, quote: (persona) => persona },
};

/** Characters that each shell would interpret, so that a path may not contain them. */
const REFUSED: Readonly<Record<CmdShell, RegExp>> = {
  cmd: /"/,
  powershell: /"/,
  'cmd or powershell': /["$`%]/,
  'cmd, no quotes': /[^\w.:\\/~-]/,
};

/** @throws Fault `usage` for a path or a persona that the shell would change */
export function formatCmdCommand(shell: CmdShell, { script, harness, event, persona }: CmdCall): string {
  const file = `${script}${CMD_ENDING}`;
  const { start, quote } = FORMS[shell];
  const wrong = REFUSED[shell].exec(file)?.[0];
  if (wrong !== undefined) throw createRefusal(harness, file, wrong);
  if (persona !== null) requireCmdPersona(persona);
  const wrongPersona = shell === 'cmd, no quotes' ? /[^\w.-]/.exec(persona ?? '')?.[0] : undefined;
  if (wrongPersona !== undefined) throw createRefusal(harness, `--persona ${persona}`, wrongPersona);
  return [start(file), harness, event, ...(persona === null ? [] : [quote(persona)])].join(' ');
}

/** Returns whether a command runs exactly this script, in the form of any of the shells. */
export function isCmdCommand(command: string, script: string): boolean {
  const file = `${script}${CMD_ENDING}`;
  return Object.values(FORMS).some(({ start }) => `${command} `.startsWith(`${start(file)} `));
}

function createRefusal(harness: string, text: string, wrong: string): Fault {
  const message = `${harness} cannot run ${text} on Windows, because of ${JSON.stringify(wrong)} in it: set HIVEBAR_HOME to a folder without it, and HIVEBAR_PERSONA to the persona`;
  return new Fault('usage', message, { is: 'machine', key: 'hook' });
}
