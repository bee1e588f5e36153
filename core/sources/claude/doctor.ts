import { silentLog } from '../../ports/index.ts';
import { createRealDisk } from '../../state/index.ts';
import { type CheckContext, type Finding, ok, skipped, warn } from '../module.ts';
import { resolveDirectories } from './open.ts';
import { readProcess, tryStat } from './read/index.ts';
import type { ClaudeSettings } from './settings.ts';
import { createClaudeSource } from './source.ts';

/** Looks at the config directories once, as the watcher of the tray process does. */
export async function checkClaude(
  { claude }: ClaudeSettings,
  { env, clock }: CheckContext,
  signal: AbortSignal,
): Promise<Finding> {
  if (claude.is === 'off') return skipped('switched off in the settings');
  const disk = createRealDisk(silentLog);
  const directories = resolveDirectories(claude, env);
  if (!directories.some((root) => tryStat(disk.files, root) !== null))
    return skipped(`${directories.join(', ')} does not exist`);
  await using source = createClaudeSource({
    ...{ directories, disk, clock, log: silentLog, readProcess, contentChars: null },
  });
  await source.personas(signal).catch(() => []); // what cannot be read is judged below
  return judgeClaude(source.stores, source.defects);
}

/** What is seen of one config directory. */
export interface ConfigDirectoryProbe {
  readonly root: string;
  readonly sessions: ReadonlyMap<string, { readonly file: { readonly socketPath: string | null } }>;
  readonly teams: ReadonlyMap<string, { readonly boxes: ReadonlyMap<string, object> }>;
  readonly orphans: number;
  readonly sessionsTrouble: string | null;
  readonly teamsTrouble: string | null;
}

/** @param defects one line each */
export function judgeClaude(probes: readonly ConfigDirectoryProbe[], defects: readonly string[]): Finding {
  const sessions = probes.flatMap((probe) => [...probe.sessions.values()]);
  const teams = probes.reduce((sum, probe) => sum + probe.teams.size, 0);
  const orphans = probes.reduce((sum, probe) => sum + probe.orphans, 0);
  const unreachable = sessions.filter(({ file }) => file.socketPath === null).length;
  const remarks = [
    ...(unreachable === 0
      ? []
      : [
          `${unreachable} not reachable by other sessions, because ${unreachable === 1 ? 'it has' : 'they have'} no socket`,
        ]),
    ...(orphans === 0
      ? []
      : [`${formatCount(orphans, 'file')} of sessions that were killed, which Claude Code removes`]),
  ];
  const summary = [`${formatCount(sessions.length, 'session')}, ${formatCount(teams, 'team')}`, ...remarks].join('; ');
  const troubles = probes.flatMap(({ root, sessionsTrouble, teamsTrouble }) => [
    ...(sessionsTrouble === null ? [] : [`${root}/sessions: ${sessionsTrouble}`]),
    ...(teamsTrouble === null ? [] : [`${root}/teams: ${teamsTrouble}`]),
  ]);
  const [first] = [...troubles, ...defects];
  if (first === undefined) return ok(summary);
  const rest = troubles.length + defects.length - 1;
  const more = rest === 0 ? '' : ` (and ${rest} more)`;
  return warn(`${summary}; ${first}${more}`, 'make it readable for this user; what else is there is watched');
}

const formatCount = (count: number, thing: string): string => `${count} ${thing}${count === 1 ? '' : 's'}`;
