import { markOf, type Program, REMOVED_BY } from './program.ts';
import { xmlComment, xmlText } from './xml.ts';

export const LOGON_TASK = '\\Hivebar\\Start at login';

/**
 * A task of the Windows Task Scheduler (its schema 1.2) for one user's logon. `conhost --headless` keeps node's console
 * window away. From the schema's documentation; not verified on a machine. A task can not carry variables.
 * @param user `DOMAIN\NAME`; without it the task would be everybody's, which takes an administrator
 */
export function logonTask(program: Program, user: string): string {
  const words = ['--headless', ...[program.node, program.entry, 'run'].map(quoted)].join(' ');
  return `${[
    '<?xml version="1.0"?>',
    xmlComment(`${markOf(program)} ${REMOVED_BY}`),
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
    '    <RestartOnFailure><Interval>PT1M</Interval><Count>3</Count></RestartOnFailure>',
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

/** As Windows programs take their command line apart. A path holds no quotes, so only a final backslash would escape one. */
function quoted(word: string): string {
  return `"${word.replace(/\\+$/, '$&$&')}"`;
}
