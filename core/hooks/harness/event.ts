/** The moments of a harness that a hook is asked at. */
export const HOOK_EVENTS = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'PreCompact',
  'Stop',
  'StopFailure',
  'SessionEnd',
  'PermissionRequest',
  'Notification',
  'SubagentStop',
] as const;

export type HookEvent = (typeof HOOK_EVENTS)[number];

const normalizeName = (name: string): string => name.toLowerCase().replaceAll(/[-_]/g, '');
const BY_NAME: ReadonlyMap<string, HookEvent> = new Map(HOOK_EVENTS.map((event) => [normalizeName(event), event]));

/** The event of that name, whatever its case and with or without dashes: `session-start`. Null: none that is known. */
export function parseHookEvent(name: string): HookEvent | null {
  return BY_NAME.get(normalizeName(name)) ?? null;
}
