import { escapeXml, formatXmlComment } from './xml.ts';

/** Formats a property list of one dictionary for launchd (launchd.plist(5)). */
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

/** Returns no entry when there are no variables. */
export function formatEnvironmentVariables(environment: Readonly<Record<string, string>>): readonly string[] {
  const variables = Object.entries(environment).map(
    ([name, value]) => `    <key>${escapeXml(name)}</key><string>${escapeXml(value)}</string>`,
  );
  return variables.length === 0 ? [] : ['  <key>EnvironmentVariables</key>', '  <dict>', ...variables, '  </dict>'];
}
