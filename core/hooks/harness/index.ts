import { createClaude } from './claude.ts';
import { createCodex } from './codex.ts';
import { type Harness, parseVersion } from './harness.ts';

export { parseTurnNotification } from './codex.ts';
export {
  type Carries,
  findHarnessVersion,
  type Harness,
  HOOK_EVENTS,
  type HookAnswer,
  type HookEvent,
  type HookReply,
  type HookTurn,
  parseHookEvent,
} from './harness.ts';

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
