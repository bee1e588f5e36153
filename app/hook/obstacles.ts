import type { HarnessName } from './recipe.ts';

/** A settings file that a harness reads besides the one with our hooks, or that one itself. */
export interface SettingsText {
  readonly path: string;
  readonly text: string;
  /** Of an administrator: it goes before those of the user. */
  readonly isManaged: boolean;
}

/**
 * Why a harness will not run hooks of a user although they stand in its settings, as those files say it. A file that cannot
 * be parsed says nothing here.
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

/** Only lines are looked at: a whole reader of TOML for two switches would be more than they are worth. */
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
    return {}; // the harness says so itself
  }
}
