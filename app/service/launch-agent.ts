import { markOf, type Program, REMOVED_BY } from './program.ts';
import { xmlComment, xmlText } from './xml.ts';

export const LAUNCH_AGENT = 'hivebar';
/** What it was called before; a file of ours by that name is taken away. */
export const OLDER_LAUNCH_AGENT = 'local.hivebar';

/**
 * A LaunchAgent of macOS (launchd.plist(5)): in the sessions of the desktop only, started again when it fails, at most
 * once a minute. From the file's documentation; not verified on a machine.
 */
export function launchAgent(program: Program): string {
  const words = [program.node, program.entry, 'run'].map((word) => `    <string>${xmlText(word)}</string>`);
  const variables = Object.entries(program.environment).map(
    ([name, value]) => `    <key>${xmlText(name)}</key><string>${xmlText(value)}</string>`,
  );
  return `${[
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    xmlComment(`${markOf(program)} ${REMOVED_BY}`),
    '<plist version="1.0">',
    '<dict>',
    `  <key>Label</key><string>${LAUNCH_AGENT}</string>`,
    '  <key>ProgramArguments</key>',
    '  <array>',
    ...words,
    '  </array>',
    ...(variables.length === 0 ? [] : ['  <key>EnvironmentVariables</key>', '  <dict>', ...variables, '  </dict>']),
    '  <key>RunAtLoad</key><true/>',
    '  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>',
    '  <key>ThrottleInterval</key><integer>60</integer>',
    '  <key>LimitLoadToSessionType</key><string>Aqua</string>',
    '  <key>ProcessType</key><string>Interactive</string>',
    '</dict>',
    '</plist>',
  ].join('\n')}\n`;
}
