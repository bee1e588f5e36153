import {
  choosePluginKind,
  createClaudeHook,
  createCodexShim,
  createFallback,
  createShimStarter,
  endOrphanedShim,
  type HookDesk,
  NO_SHIM,
  openWakePath,
  type Plugin,
  type ShimView,
  startShim,
  type WakePath,
  writeShimPid,
} from '../../core/daemon/index.ts';
import { type DaemonConfig, formatDoorbellLine, readWake, toWakeFile } from '../../core/link/index.ts';
import { LOCAL_PREFIX } from '../../core/model/index.ts';
import { findOwnDirs } from '../../core/state/index.ts';
import type { Machine } from '../host/machine.node.ts';

/** The surface of a persona, as its daemon uses it. */
export interface Surface extends AsyncDisposable {
  readonly plugin: Plugin;
  readonly shim: ShimView;
}

interface SurfaceNeeds {
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

/**
 * Creates the way to wake an agent while none of its hooks run, from the address that `hivebar session set --wake` saved. An
 * address that cannot be read counts as none.
 */
export function createWakePath(config: DaemonConfig, { disk, env }: Machine): WakePath {
  const { run } = findOwnDirs(env);
  // Where another hive is the primary one, a persona of the local hive is announced with its prefix.
  const paths = [config.address, `${LOCAL_PREFIX}${config.address}`].map((persona) => toWakeFile(run, persona));
  const address = (): string | null => {
    try {
      return paths.map((path) => readWake(disk, path)).find((url) => url !== null) ?? null;
    } catch {
      return null; // refused, as a link or a file of another user: then a ring fails and says so
    }
  };
  return openWakePath(address, formatDoorbellLine(config));
}
