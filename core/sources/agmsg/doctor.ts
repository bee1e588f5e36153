import { Fault } from '../../model/index.ts';
import { silentLog } from '../../ports/index.ts';
import { createRealDisk } from '../../state/index.ts';
import { type CheckContext, type Finding, fail, ok, skipped, warn } from '../module.ts';
import { askForStore } from './api.node.ts';
import { createInstallationList } from './open.ts';
import type { AgmsgSettings } from './settings.ts';
import { createAgmsgSource } from './source.ts';

/** Polls the teams of agmsg once, as the watcher of the tray process does. */
export async function checkAgmsg(
  { agmsg }: AgmsgSettings,
  { env, clock }: CheckContext,
  signal: AbortSignal,
): Promise<Finding> {
  if (agmsg.is === 'off') return skipped('switched off in the settings');
  const disk = createRealDisk(silentLog);
  const findInstallations = createInstallationList(agmsg.roots, disk);
  if (findInstallations().length === 0) return skipped('agmsg is not installed');
  await using source = createAgmsgSource({
    ...{ disk, clock, env, log: silentLog, contentChars: null, findInstallations },
    askForStore: (root, team) => askForStore(root, team, env, signal),
  });
  try {
    const personas = await source.personas(signal);
    let unread = 0;
    for (const persona of personas) {
      const result = await source.poll(persona, { is: 'unset' }, signal);
      if (result.unread.is !== 'unknown') unread += result.unread.n;
    }
    const summary = `${personas.length} agent${personas.length === 1 ? '' : 's'}, ${unread} unread`;
    const [first] = source.defects;
    return first === undefined ? ok(summary) : warn(`${summary}; ${first}`, 'rename it; the others are watched');
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return fail(error.message, 'see what that file is; Hivebar only reads it');
  }
}
