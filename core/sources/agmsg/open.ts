import { join } from 'node:path';
import { waitUntil } from '../../services/index.ts';
import { type Disk, findOwnHome } from '../../state/index.ts';
import type { SourceEnvironment, SourceHost, SourcePlace, WatchedSource } from '../module.ts';
import { askForStore } from './api.node.ts';
import { findInstallations, type Installation, toInstallation } from './installations.ts';
import type { ReplyToAgent } from './reply.node.ts';
import { AGMSG, type AgmsgSettings } from './settings.ts';
import { createAgmsgSource } from './source.ts';

/** How often Hivebar looks for an installation that does not exist yet. */
const APPEARS_EVERY_MS = 10_000;

type AgmsgHost = Pick<SourceHost, 'env' | 'disk' | 'clock' | 'log' | 'contentChars'>;

/** Opens all installations of agmsg, watched as one hive from when there is one. Null when the settings switch it off. */
export function openAgmsg({ agmsg }: AgmsgSettings, host: AgmsgHost): WatchedSource | null {
  if (agmsg.is === 'off') return null;
  const { env, disk, clock } = host;
  const list = createInstallationList(agmsg.roots, disk);
  const replyToAgent: ReplyToAgent = async (...call) => {
    const { createAgentReply } = await import('./reply.node.ts'); // loaded when a person replies
    return await createAgentReply(host)(...call);
  };
  const source = createAgmsgSource({
    ...host,
    findInstallations: list,
    askForStore: (root, team, signal) => askForStore(root, team, env, signal),
    ...(agmsg.actions === true ? { replyToAgent } : {}),
  });
  return {
    hives: [
      {
        source,
        address: agmsg.roots?.join(', ') ?? toSkillsFolder(),
        identity: ({ address }) => [AGMSG, address],
        named: source.named,
        holdMs: null,
        kind: 'disk',
        deliversBacklog: agmsg.backfill === true,
        async appears(signal) {
          if (list().length > 0) return 'there';
          await waitUntil(() => list().length > 0, APPEARS_EVERY_MS, clock, signal);
          return 'came';
        },
      },
    ],
    findSessions(persona) {
      const found = persona.source === source.id ? source.findProject(persona.id) : null;
      return found === null ? [] : [{ persona: persona.id, id: found.address, cwd: found.project, resume: null }];
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

const toSkillsFolder = (): string => join(findOwnHome(), '.agents', 'skills');

/** Lists the installations that the settings name, else those of this user. A folder that cannot be read has none. */
export function createInstallationList(
  roots: readonly string[] | undefined,
  disk: Disk,
): () => readonly Installation[] {
  if (roots !== undefined) return () => roots.map(toInstallation);
  return () => {
    try {
      return findInstallations(disk, toSkillsFolder()).map(toInstallation);
    } catch {
      return []; // somebody else's folder, in which nothing of agmsg can be found
    }
  };
}

const WHAT = 'agmsg teams';

export function findAgmsgPlaces(
  { agmsg }: AgmsgSettings,
  { disk }: Pick<SourceEnvironment, 'disk'>,
): readonly SourcePlace[] {
  if (agmsg.is === 'off') return [{ what: WHAT, where: agmsg.roots?.join(', ') ?? toSkillsFolder(), found: null }];
  const installations = createInstallationList(agmsg.roots, disk)();
  if (installations.length === 0) return [{ what: WHAT, where: toSkillsFolder(), found: null }];
  return installations.map(({ root }) => ({
    what: WHAT,
    where: root,
    found: disk.files.lstat(root) === null ? null : 'installed',
  }));
}
