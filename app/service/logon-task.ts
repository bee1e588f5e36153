import { markOf, type Program, REMOVED_BY } from './program.ts';
import { xmlComment, xmlText } from './xml.ts';

export const LOGON_TASK = '\\Hivebar\\Start at login';

/** What a task starts, and how often it is started again, a minute after it failed. */
export interface TaskKind {
  /** What follows the file that node runs. */
  readonly words: readonly string[];
  readonly removedBy: string;
  /** The schema knows 255 at most. */
  readonly restarts: number;
}

const TRAY: TaskKind = { words: ['run'], removedBy: REMOVED_BY, restarts: 3 };

/**
 * A task of the Windows Task Scheduler (its schema 1.2) for one user's logon. `conhost --headless` keeps node's console
 * window away. From the schema's documentation; not verified on a machine. A task can not carry variables.
 * @param user `DOMAIN\NAME`; without it the task would be everybody's, which takes an administrator
 */
export function logonTask(program: Program, user: string, kind: TaskKind = TRAY): string {
  const words = `--headless ${taskWords([program.node, program.entry, ...kind.words])}`;
  return `${[
    '<?xml version="1.0"?>',
    xmlComment(`${markOf(program)} ${kind.removedBy}`),
    '<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">',
    '  <RegistrationInfo><Author>Hivebar</Author></RegistrationInfo>',
    '  <Triggers>',
    `    <LogonTrigger><Enabled>true</Enabled><UserId>${xmlText(user)}</UserId></LogonTrigger>`,
    '  </Triggers>',
    '  <Principals>',
    '    <Principal id="Author">',
    `      <UserId>${xmlText(user)}</UserId>`,
    '      <LogonType>InteractiveToken</LogonType>',
    '      <RunLevel>LeastPrivilege</RunLevel>',
    '    </Principal>',
    '  </Principals>',
    '  <Settings>',
    '    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>',
    '    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>',
    '    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>',
    '    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>',
    `    <RestartOnFailure><Interval>PT1M</Interval><Count>${kind.restarts}</Count></RestartOnFailure>`,
    '  </Settings>',
    '  <Actions Context="Author">',
    '    <Exec>',
    '      <Command>%SystemRoot%\\System32\\conhost.exe</Command>',
    `      <Arguments>${xmlText(words)}</Arguments>`,
    '    </Exec>',
    '  </Actions>',
    '</Task>',
  ].join('\n')}\n`;
}

export function taskWords(words: readonly string[]): string {
  return words.map(quoted).join(' ');
}

/** As Windows programs take their command line apart: backslashes before a quote, or at the end, are doubled. */
function quoted(word: string): string {
  return `"${word.replace(/(\\*)"/g, '$1$1\\"').replace(/\\+$/, '$&$&')}"`;
}
