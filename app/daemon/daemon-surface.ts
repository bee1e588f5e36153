import {
  choosePluginKind,
  createClaudeHook,
  createCodexShim,
  createFallback,
  createShimStarter,
  endOrphanedShim,
  type HookDesk,
  NO_SHIM,
  type Plugin,
  type ShimView,
  startShim,
  type WakePath,
  writeShimPid,
} from '../../core/daemon/index.ts';
import type { DaemonConfig } from '../../core/link/index.ts';
import type { Machine } from '../host/machine.ts';

/** The surface of a persona, as its daemon uses it. */
export interface Surface extends AsyncDisposable {
  readonly plugin: Plugin;
  readonly shim: ShimView;
}

export interface SurfaceNeeds {
  readonly config: DaemonConfig;
  readonly desk: HookDesk;
  /** The environment that a shim is started with. */
  readonly env: Machine['env'];
  readonly machine: Machine;
  /** Returns a random number in [0, 1). */
  readonly draw: () => number;
  readonly wake: WakePath | null;
  /** The file that notes which shim runs. */
  readonly shimNote: string;
  /** Called when the shim came or went. */
  readonly changed: (view: ShimView) => void;
}

/** Opens the plugin of a surface, with its shim where it has one (persona daemon, contract 5). */
export async function openSurface({
  config,
  desk,
  env,
  machine,
  draw,
  wake,
  shimNote,
  changed,
}: SurfaceNeeds): Promise<Surface> {
  const { clock } = machine;
  const kind = choosePluginKind(config.surface, config.shim !== null);
  if (kind === 'codex-shim' && config.shim !== null) {
    endOrphanedShim(shimNote);
    const shim = startShim({
      start: createShimStarter(config.shim.command, env, clock, config.project),
      clock,
      chance: draw,
      changed(view) {
        writeShimPid(shimNote, view.pid);
        changed(view);
      },
    });
    return {
      plugin: createCodexShim({ shim, desk, clock }),
      get shim() {
        return shim.view;
      },
      [Symbol.asyncDispose]: async () => await shim[Symbol.asyncDispose](),
    };
  }
  if (kind === 'claude-hook') {
    const plugin = createClaudeHook({ desk, wake, clock });
    return { plugin, shim: NO_SHIM, [Symbol.asyncDispose]: async () => {} };
  }
  const { openPersonNotifier } = await import('./person-notifier.ts'); // other daemons have no memory for it
  const person = openPersonNotifier(config, machine);
  const plugin = createFallback({ person, clock });
  return { plugin, shim: NO_SHIM, [Symbol.asyncDispose]: async () => await person[Symbol.asyncDispose]() };
}
