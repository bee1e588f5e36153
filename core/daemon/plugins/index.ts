export { choosePluginKind } from './choose.ts';
export { createClaudeHook } from './claude-hook.ts';
export { createCodexShim } from './codex-shim.ts';
export { createFallback, type PersonNotifier } from './fallback.ts';
export { createHookDesk, type HookDesk, type Plugin, type WakePath } from './plugin.ts';
export { openWakePath } from './wake-path.node.ts';
