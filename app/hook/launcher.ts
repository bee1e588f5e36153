import { createHash } from 'node:crypto';
import { CMD_ENDING, formatSet, requireCmdPersona } from './cmd-script.ts';
import { quoteShellWord, SCRIPT_NAME } from './script.ts';

/**
 * A program that runs a hook only while its command is the one that its user trusted gets a launcher, whose path never changes.
 * What changes stands in the launcher: the persona, and where the script of the hooks is. See docs/decisions/0149.
 */
const HEADER = 'Hivebar launcher, form 1. hivebar hook install writes it anew.';

/** Formats the launcher: `launcher HARNESS EVENT`, with the input of the harness on stdin. */
export function formatLauncher(os: NodeJS.Platform, script: string, persona: string | null): string {
  return os === 'win32' ? formatCmdLauncher(script, persona) : formatShellLauncher(script, persona);
}

function formatShellLauncher(script: string, persona: string | null): string {
  return `#!/bin/sh
# ${HEADER}
script=${quoteShellWord(script)}
persona=${quoteShellWord(persona ?? '')}
[ -z "$persona" ] || set -- "$@" "$persona"
if [ ! -x "$script" ]; then
  /bin/cat >/dev/null 2>&1
  exit 0
fi
exec "$script" "$@"
`;
}

function formatCmdLauncher(script: string, persona: string | null): string {
  const isAscii = /^[\x20-\x7e]*$/.test(script + (persona ?? ''));
  return [
    '@echo off',
    `rem ${HEADER}`,
    'setlocal DisableDelayedExpansion',
    ...(isAscii ? [] : ['chcp 65001 >nul']),
    formatSet('SCRIPT', `${script}${CMD_ENDING}`),
    formatSet('PERSONA', persona === null ? '' : requireCmdPersona(persona)),
    'if not exist "%SCRIPT%" exit /b 0',
    'if "%PERSONA%"=="" goto unnamed',
    '"%SCRIPT%" %1 %2 "%PERSONA%"',
    ':unnamed',
    '"%SCRIPT%" %1 %2',
    '',
  ].join('\r\n');
}

/** Returns the persona in a launcher, null when it names none; undefined when the text is no launcher of ours. */
export function parseLauncherPersona(text: string): string | null | undefined {
  if (!text.includes(HEADER)) return undefined;
  const word = /^persona='((?:[^'\n]|'\\'')*)'$/m.exec(text)?.[1]?.replaceAll("'\\''", "'");
  return word || /^set "PERSONA=([^"\r\n]*)"\r?$/m.exec(text)?.[1] || null;
}

/** Names the launcher of a project, in the folder of the script: what lies in a project may have been downloaded. */
export function formatProjectLauncherName(folder: string): string {
  return `${SCRIPT_NAME}-${createHash('sha256').update(folder).digest('hex').slice(0, 16)}`;
}
