import { Fault } from '../../core/model/index.ts';
import { IS_NEW_NODE } from './is-new-node.ts';
import type { ScriptFacts } from './script.ts';

/** What is put behind the path of the script for the shell, for a harness that runs hooks by cmd. */
export const CMD_ENDING = '.cmd';

/**
 * The hook for a harness that runs commands by cmd, as Codex does on Windows: it finds Node as the script for the shell does and
 * asks the program at every event, since cmd reads no stamps in less time. What fails ends with 0.
 *
 * `HARNESS EVENT [PERSONA]`, the input of the harness on stdin.
 */
export function formatCmdScript({ node, otherNodes, entry, state, leads }: ScriptFacts): string {
  const paths = [node, entry, state, ...otherNodes, ...Object.values(leads)];
  // cmd reads a file in the code page of the console, which is that of the country.
  const isAscii = paths.every((path) => /^[\x20-\x7e]*$/.test(path));
  return [
    '@echo off',
    'rem Hivebar hook, form 2. hivebar hook install writes it anew.',
    'setlocal DisableDelayedExpansion',
    ...(isAscii ? [] : ['chcp 65001 >nul']),
    formatSet('NODE', node),
    formatSet('ENTRY', entry),
    'if exist "%NODE%" goto known',
    ...otherNodes.map((path) => `if not exist "%NODE%" ${formatSet('NODE', path)}`),
    'if not exist "%NODE%" for %%N in (node.exe) do set "NODE=%%~$PATH:N"',
    'if "%NODE%"=="" goto gone',
    'if not exist "%NODE%" goto gone',
    `"%NODE%" -e "${IS_NEW_NODE}" <nul >nul 2>nul`,
    'if errorlevel 1 goto gone',
    'goto known',
    ':known',
    'if not exist "%ENTRY%" goto gone',
    // Another value leads to another Hivebar, which is asked.
    ...Object.entries(leads)
      .filter(([, value]) => value !== '')
      .map(([name, value]) => `if "%${name}%"=="" ${formatSet(name, value)}`),
    'if /i not "%~1"=="codex" if not "%~3"=="" if "%HIVEBAR_PERSONA%"=="" set "HIVEBAR_PERSONA=%~3"',
    'if /i "%~1"=="codex" if not "%~3"=="" goto named',
    '"%NODE%" "%ENTRY%" hook --harness %~1 --event %~2',
    'exit /b 0',
    ':named',
    '"%NODE%" "%ENTRY%" hook --harness %~1 --event %~2 --persona "%~3"',
    'exit /b 0',
    ':gone',
    `if /i "%~2"=="SessionStart" echo ${NOT_FOUND_MESSAGE}`,
    'exit /b 0',
    '',
  ].join('\r\n');
}

const NOT_FOUND_MESSAGE =
  '{"systemMessage":"hivebar: Hivebar is not found by its hook, because Node or Hivebar was moved or removed: run hivebar hook install."}';

/** In a file of cmd a percent sign stands for itself when it is doubled. */
function formatSet(name: string, value: string): string {
  if (/[\p{Cc}"]/u.test(value)) throw new RangeError(`${JSON.stringify(value)} has a quote or a control character`);
  return `set "${name}=${value.replaceAll('%', '%%')}"`;
}

/**
 * The command line for cmd. It begins with `call`: of a line that begins with a quote and holds more than two, cmd takes the first
 * and the last away.
 * @throws Fault `usage` for a persona that cmd would not hand over as it is
 */
export function formatCmdCommand(script: string, harness: string, event: string, persona: string | null): string {
  if (persona !== null && !/^[\p{L}\p{N} ._@~+-]+$/u.test(persona))
    throw new Fault(
      'usage',
      `--persona ${JSON.stringify(persona)} cannot stand in a command line of cmd: leave it out, and set HIVEBAR_PERSONA`,
      { is: 'machine', key: 'hook' },
    );
  return [`call "${script}${CMD_ENDING}"`, harness, event, ...(persona === null ? [] : [`"${persona}"`])].join(' ');
}

/** Whether a command line runs this very script by cmd. */
export function isCmdCommand(command: string, script: string): boolean {
  return `${command} `.startsWith(`call "${script}${CMD_ENDING}" `);
}
