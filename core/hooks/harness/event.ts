/** The moments at which a harness runs a hook. */
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

/** Finds an event by name, in any case and with or without dashes: `session-start`. Null: the name is unknown. */
export function parseHookEvent(name: string): HookEvent | null {
  return BY_NAME.get(normalizeName(name)) ?? null;
}
