export { pluginKind } from './choose.ts';
export { claudeHook } from './claude-hook.ts';
export { codexShim } from './codex-shim.ts';
export { type Banner, fallback } from './fallback.ts';
export { createHookDesk, type HookDesk } from './hook-desk.ts';
export { DETAIL_CLASSES, type DetailClass, type Plugin, STATUS_WITHIN_MS, type SurfaceStatus } from './plugin.ts';
export { wakePath } from './wake-path.node.ts';
export type { WakePath } from './wake-path.ts';
