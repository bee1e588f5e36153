import { createClaude } from './claude.ts';
import { createCodex } from './codex.ts';
import type { Harness } from './harness.ts';
import { parseVersion } from './version.ts';

export { parseTurnNotification } from './codex-notify.ts';
export { HOOK_EVENTS, type HookEvent, parseHookEvent } from './event.ts';
export type { Carries, Harness, HookAnswer, HookReply } from './harness.ts';
export type { HookTurn } from './turn.ts';
export { findHarnessVersion } from './version.ts';

/** @param version the version as the harness prints it; null: unknown */
const HARNESSES: Readonly<Record<string, (version: string | null) => Harness>> = {
  claude: (version) => createClaude(version === null ? null : parseVersion(version)),
  codex: () => createCodex(),
};

export const HARNESS_NAMES: readonly string[] = Object.keys(HARNESSES);

/** Null: no harness of that name is supported. */
export function findHarness(name: string, version: string | null): Harness | null {
  return Object.hasOwn(HARNESSES, name) ? (HARNESSES[name]?.(version) ?? null) : null;
}
