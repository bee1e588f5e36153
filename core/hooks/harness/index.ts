import { claude } from './claude.ts';
import { codex } from './codex.ts';
import type { Harness } from './harness.ts';
import { versionIn } from './version.ts';

export { notifiedTurn } from './codex-notify.ts';
export { HOOK_EVENTS, type HookEvent, hookEventOf } from './event.ts';
export type { Answer, Carries, Harness, Reply } from './harness.ts';
export type { Turn } from './turn.ts';
export { versionSaid } from './version.ts';

/** @param version of the harness, as it prints it; null: not known */
const HARNESSES: Readonly<Record<string, (version: string | null) => Harness>> = {
  claude: (version) => claude(version === null ? null : versionIn(version)),
  codex: () => codex(),
};

export const HARNESS_NAMES: readonly string[] = Object.keys(HARNESSES);

/** Null: none of that name is known here. */
export function harnessOf(name: string, version: string | null): Harness | null {
  return Object.hasOwn(HARNESSES, name) ? (HARNESSES[name]?.(version) ?? null) : null;
}
