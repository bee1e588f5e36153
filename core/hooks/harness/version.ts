/** Major, minor, patch. */
export type Version = readonly [number, number, number];

/** The first `N.N.N` in a text such as `2.1.163 (Claude Code)`; null: there is none. */
export function parseVersion(text: string): Version | null {
  const [, major, minor, patch] = /(\d{1,6})\.(\d{1,6})\.(\d{1,6})/.exec(text) ?? [];
  return patch === undefined ? null : [Number(major), Number(minor), Number(patch)];
}

/**
 * Finds the version that Claude Code gives to the programs it starts, as `claude-code_2-1-332_harness`. Null: no version is
 * given.
 */
export function findHarnessVersion({ AI_AGENT }: Readonly<Record<string, string | undefined>>): string | null {
  const [, major, minor, patch] = /^claude-code\D+(\d{1,6})[-.](\d{1,6})[-.](\d{1,6})/.exec(AI_AGENT ?? '') ?? [];
  return patch === undefined ? null : `${major}.${minor}.${patch}`;
}

/** An unknown version counts as older than every other. */
export function isAtLeast(version: Version | null, first: Version): boolean {
  if (version === null) return false;
  for (const [at, number] of first.entries()) {
    const ours = version[at] ?? 0;
    if (ours !== number) return ours > number;
  }
  return true;
}
