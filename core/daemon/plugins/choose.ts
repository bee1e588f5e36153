export type PluginKind = 'claude-hook' | 'codex-shim' | 'fallback';

/** Surfaces whose harness runs a command at its turn boundaries. */
const WITH_HOOKS: readonly string[] = ['claude-code', 'claude', 'codex'];

/** Chooses the plugin of a surface: a shim if one is configured, a hook if the harness has hooks, else a banner. */
export function choosePluginKind(surface: string, hasShim: boolean): PluginKind {
  if (hasShim) return 'codex-shim';
  return WITH_HOOKS.includes(surface) ? 'claude-hook' : 'fallback';
}
