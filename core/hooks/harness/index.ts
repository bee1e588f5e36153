import { claude } from './claude.ts';
import { codex } from './codex.ts';
import { copilot } from './copilot.ts';
import { cursor } from './cursor.ts';
import { gemini } from './gemini.ts';
import { goose } from './goose.ts';
import type { Harness, HarnessModule } from './harness.ts';
import { opencode } from './opencode.ts';
import { qwen } from './qwen.ts';

export { parseTurnNotification } from './codex.ts';
export { refuseForeignEnv } from './dialect.ts';
export {
  type Carries,
  findHarnessVersion,
  type Harness,
  type HarnessModule,
  type HarnessSetup,
  HOOK_EVENTS,
  type HookAnswer,
  type HookEvent,
  type HookReply,
  type HookSlot,
  type HookTurn,
  isAtLeast,
  parseHookEvent,
  parseVersion,
  STOP_TEXTS,
  type Version,
} from './harness.ts';

/** One row per agent program. Replies, recipes of installation, help and the table of guides derive from it. */
export const HARNESS_MODULES = {
  ...{ claude, codex, gemini, qwen, copilot, cursor, goose, opencode },
} as const satisfies Readonly<Record<string, HarnessModule>>;

export type HarnessName = keyof typeof HARNESS_MODULES;

export const HARNESS_NAMES = Object.keys(HARNESS_MODULES) as readonly HarnessName[];

/** Null: no harness of that name is supported. */
export function findHarnessModule(name: string): HarnessModule | null {
  return HARNESS_NAMES.some((known) => known === name) ? HARNESS_MODULES[name as HarnessName] : null;
}

/**
 * Null: no harness of that name is supported.
 * @param version the version as the harness prints it; null: unknown
 */
export function findHarness(name: string, version: string | null): Harness | null {
  return findHarnessModule(name)?.create(version) ?? null;
}
