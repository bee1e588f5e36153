import { escapeXml, formatXmlComment } from './xml.ts';

/** A property list of one dictionary, as launchd reads it (launchd.plist(5)). */
export function formatPropertyList(comment: string, entries: readonly string[]): string {
  return `${[
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    formatXmlComment(comment),
    '<plist version="1.0">',
    '<dict>',
    ...entries,
    '</dict>',
    '</plist>',
  ].join('\n')}\n`;
}

export function formatProgramArguments(words: readonly string[]): readonly string[] {
  const strings = words.map((word) => `    <string>${escapeXml(word)}</string>`);
  return ['  <key>ProgramArguments</key>', '  <array>', ...strings, '  </array>'];
}

/** Nothing when there are none. */
export function formatEnvironmentVariables(environment: Readonly<Record<string, string>>): readonly string[] {
  const variables = Object.entries(environment).map(
    ([name, value]) => `    <key>${escapeXml(name)}</key><string>${escapeXml(value)}</string>`,
  );
  return variables.length === 0 ? [] : ['  <key>EnvironmentVariables</key>', '  <dict>', ...variables, '  </dict>'];
}
