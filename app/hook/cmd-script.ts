import type { HarnessName } from '../../core/hooks/index.ts';
import { Fault } from '../../core/model/index.ts';
import { IS_NEW_NODE, type ScriptFacts } from './script.ts';

/** The ending that is added to the path of the shell script, for a harness that runs hooks with cmd. */
export const CMD_ENDING = '.cmd';

/**
 * Formats the hook for harnesses whose shell on Windows runs no script of a shell: all but Claude Code. It finds Node as the shell script does,
 * and starts the program at every event, since cmd needs as long to read stamps. A failure ends with 0.
 *
 * The arguments are `HARNESS EVENT [PERSONA]`, and the input of the harness is on stdin.
 */
export function formatCmdScript({ node, otherNodes, entry, state, leads }: ScriptFacts): string {
  const paths = [node, entry, state, ...otherNodes, ...Object.values(leads)];
  // cmd reads a file in the code page of the console, which depends on the country.
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
    // With another value the variable points to another Hivebar, which is started then.
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
    ...WITHOUT_MESSAGES.map((harness) => `if /i "%~1"=="${harness}" exit /b 0`),
    `if /i "%~2"=="SessionStart" echo ${NOT_FOUND_MESSAGE}`,
    'exit /b 0',
    '',
  ].join('\r\n');
}

/** These show their person no such message. */
const WITHOUT_MESSAGES = ['copilot', 'cursor', 'goose'] as const satisfies readonly HarnessName[];
const NOT_FOUND_MESSAGE =
  '{"systemMessage":"hivebar: Hivebar is not found by its hook, because Node or Hivebar was moved or removed: run hivebar hook install."}';

/** In a cmd file a percent sign must be doubled. */
export function formatSet(name: string, value: string): string {
  if (/[\p{Cc}"]/u.test(value)) throw new RangeError(`${JSON.stringify(value)} has a quote or a control character`);
  return `set "${name}=${value.replaceAll('%', '%%')}"`;
}

/** @throws Fault `usage` for a persona that cmd would change */
export function requireCmdPersona(persona: string): string {
  if (/^[\p{L}\p{N} ._@~+-]+$/u.test(persona)) return persona;
  throw new Fault(
    'usage',
    `--persona ${JSON.stringify(persona)} cannot stand in a command line of cmd: leave it out, and set HIVEBAR_PERSONA`,
    { is: 'machine', key: 'hook' },
  );
}
