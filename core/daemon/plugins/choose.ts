export type PluginKind = 'claude-hook' | 'codex-shim' | 'fallback';

/** Surfaces whose harness runs a command at its boundaries. */
const WITH_HOOKS: readonly string[] = ['claude-code', 'claude', 'codex'];

/** Which plugin serves a surface: a shim wherever one is configured, a hook where the harness has them, else a banner. */
export function choosePluginKind(surface: string, hasShim: boolean): PluginKind {
  if (hasShim) return 'codex-shim';
  return WITH_HOOKS.includes(surface) ? 'claude-hook' : 'fallback';
}
