import { formatEnvironmentVariables, formatProgramArguments, formatPropertyList } from './property-list.ts';
import { formatOwnerLine, REMOVED_BY, type ServiceProgram } from './service-program.ts';

export const LAUNCH_AGENT = 'hivebar';
/** Its earlier name. A file of ours with that name is removed. */
export const OLDER_LAUNCH_AGENT = 'local.hivebar';

/**
 * Formats a LaunchAgent of macOS (launchd.plist(5)). It runs in desktop sessions only, and is started again when it fails, at
 * most once per minute. From the file's documentation; not verified on a machine.
 */
export function formatLaunchAgent(program: ServiceProgram): string {
  return formatPropertyList(`${formatOwnerLine(program)} ${REMOVED_BY}`, [
    `  <key>Label</key><string>${LAUNCH_AGENT}</string>`,
    ...formatProgramArguments([program.node, program.entry, 'run']),
    ...formatEnvironmentVariables(program.environment),
    '  <key>RunAtLoad</key><true/>',
    '  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>',
    '  <key>ThrottleInterval</key><integer>60</integer>',
    '  <key>LimitLoadToSessionType</key><string>Aqua</string>',
    '  <key>ProcessType</key><string>Interactive</string>',
  ]);
}
