export { choosePluginKind } from './choose.ts';
export { createClaudeHook } from './claude-hook.ts';
export { createCodexShim } from './codex-shim.ts';
export { createFallback, type PersonNotifier } from './fallback.ts';
export { createHookDesk, type HookDesk } from './hook-desk.ts';
export type { Plugin } from './plugin.ts';
export { openWakePath } from './wake-path.node.ts';
export type { WakePath } from './wake-path.ts';
