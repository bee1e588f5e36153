import { markOf, type Program, REMOVED_BY } from './program.ts';
import { environmentVariables, programArguments, propertyList } from './property-list.ts';

export const LAUNCH_AGENT = 'hivebar';
/** What it was called before; a file of ours by that name is taken away. */
export const OLDER_LAUNCH_AGENT = 'local.hivebar';

/**
 * A LaunchAgent of macOS (launchd.plist(5)): in the sessions of the desktop only, started again when it fails, at most
 * once a minute. From the file's documentation; not verified on a machine.
 */
export function launchAgent(program: Program): string {
  return propertyList(`${markOf(program)} ${REMOVED_BY}`, [
    `  <key>Label</key><string>${LAUNCH_AGENT}</string>`,
    ...programArguments([program.node, program.entry, 'run']),
    ...environmentVariables(program.environment),
    '  <key>RunAtLoad</key><true/>',
    '  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>',
    '  <key>ThrottleInterval</key><integer>60</integer>',
    '  <key>LimitLoadToSessionType</key><string>Aqua</string>',
    '  <key>ProcessType</key><string>Interactive</string>',
  ]);
}
