import type { HarnessName } from './recipe.ts';

/** The file with our hooks, or another settings file that the harness reads. */
export interface SettingsText {
  readonly path: string;
  readonly text: string;
  /** Whether it belongs to an administrator, whose settings come before those of the user. */
  readonly isManaged: boolean;
}

/**
 * Returns why, according to these files, a harness does not run a user's hooks that are in its settings. A file that cannot be
 * parsed is ignored here.
 */
export function findObstacles(harness: HarnessName, files: readonly SettingsText[]): readonly string[] {
  return files.flatMap((file) => (harness === 'claude' ? findClaudeObstacles(file) : findCodexObstacles(file)));
}

function findClaudeObstacles({ path, text, isManaged }: SettingsText): readonly string[] {
  const { disableAllHooks, allowManagedHooksOnly } = parseObject(text);
  return [
    ...(disableAllHooks === true ? [`${path} says "disableAllHooks": true`] : []),
    ...(isManaged && allowManagedHooksOnly === true ? [`${path} says "allowManagedHooksOnly": true`] : []),
  ];
}

/** Only lines are matched: a whole TOML parser for two switches would not be worth it. */
function findCodexObstacles({ path, text, isManaged }: SettingsText): readonly string[] {
  const obstacles: string[] = [];
  let table = '';
  for (const line of text.split('\n')) {
    table = /^\s*\[([^[\]]+)\]/.exec(line)?.[1]?.trim() ?? table;
    const [, key = '', value = ''] = /^\s*([\w.]+)\s*=\s*(true|false)\b/.exec(line) ?? [];
    const whole = table === '' ? key : `${table}.${key}`;
    if (/^features\.(codex_)?hooks$/.test(whole) && value === 'false') obstacles.push(`${path} says ${whole} = false`);
    if (isManaged && key === 'allow_managed_hooks_only' && value === 'true')
      obstacles.push(`${path} says ${key} = true`);
  }
  return obstacles;
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : {};
  } catch {
    return {}; // the harness reports it itself
  }
}
