import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { computeCodexHookHash } from '../../app/hook/codex-trust.ts';
import { findNodeCandidates } from '../../app/hook/hook-entries.ts';
import { createInstaller } from '../../app/hook/hook-installer.ts';
import type { HookGroup } from '../../app/hook/recipe.ts';
import { realRandom } from '../../core/ports/index.ts';
import { programEntry } from './program.ts';

/**
 * Installs the hooks of Claude Code and Codex as the program under test would, without a process, and trusts them as a user of Codex
 * does.
 * @param home `HOME`
 * @param state `HIVEBAR_HOME`
 */
export function installHooks(home: string, state: string): void {
  const entry = programEntry('hook');
  const root = join(entry, ...(entry.endsWith('.ts') ? ['..', '..', '..'] : ['..', '..']));
  const folders = { claude: join(home, '.claude'), codex: join(home, '.codex') };
  const node = process.execPath;
  const installer = createInstaller({
    random: realRandom,
    os: process.platform,
    managed: { claude: [], codex: [] },
    findVersion: () => null,
    tryCommand: async () => null,
    run: join(state, 'run'),
    scriptPath: join(state, 'hook', 'hivebar-hook'),
    script: {
      node,
      otherNodes: findNodeCandidates(root, process.platform),
      entry,
      state,
      leads: { HIVEBAR_HOME: state },
    },
    folders: { user: folders, project: folders },
  });
  for (const harness of ['claude', 'codex'] as const) installer.install(harness, 'user', null);
  writeFileSync(join(folders.codex, 'config.toml'), trustAll(join(folders.codex, 'hooks.json')));
}

/**
 * What Codex writes into its `config.toml` when its user trusts every hook of this file.
 * @param name the file as Codex names it
 */
export function trustAll(hooksFile: string, name = hooksFile): string {
  const { hooks } = JSON.parse(readFileSync(hooksFile, 'utf8')) as {
    readonly hooks: Record<string, readonly HookGroup[]>;
  };
  return Object.entries(hooks)
    .flatMap(([event, groups]) =>
      groups.flatMap((around, group) =>
        around.hooks.map((value, handler) => {
          const label = event.replace(/(?<!^)[A-Z]/g, (capital) => `_${capital}`).toLowerCase();
          const hash = computeCodexHookHash(process.platform, { event, value, matcher: around.matcher });
          return `[hooks.state."${name}:${label}:${group}:${handler}"]\ntrusted_hash = "${hash}"\n`;
        }),
      ),
    )
    .join('\n');
}
