import type { PersonaId } from '../../model/index.ts';
import { type ConfigDirectory, hasInboxName, LEAD, type LiveSession } from './directory.ts';
import type { MailLog } from './mail-log.ts';
import type { TeamMember } from './read/index.ts';
import { CLAUDE_PREFIX } from './settings.ts';
import type { TeamInbox } from './team-inbox.ts';
import { cleanLabel, toFolder, toHash, toSlug } from './texts.ts';

/** What a persona of this source stands for. */
export interface Entry {
  readonly address: string;
  readonly label: string;
  readonly directory: ConfigDirectory;
  /** Its session; of a member, or of a box of its own, the session of the lead. Null: nobody knows it. */
  readonly session: LiveSession | null;
  /** Whether it is the session itself. */
  readonly isSession: boolean;
  readonly boxes: readonly TeamInbox[];
  readonly member: TeamMember | null;
  readonly logs: readonly MailLog[];
  /** Differs when anything in its inboxes changed. */
  readonly revision: number;
}

/** The personas of all config directories. */
export interface Roster {
  readonly byAddress: ReadonlyMap<string, Entry>;
  /** Sessions that a persona announced, and which that is. They are no personas of this source. */
  readonly announced: readonly { readonly session: LiveSession; readonly persona: PersonaId }[];
}

/**
 * Lists who is there: each session that nobody announced, each member of a team whose lead lives, and each inbox with mail that
 * nobody is there for. Who has an address keeps it.
 * @param addresses who had which address; changed in place
 */
export function listRoster(
  directories: readonly ConfigDirectory[],
  addresses: Map<string, string>,
  findPersona: (sessionId: string) => PersonaId | null,
): Roster {
  const byAddress = new Map<string, Entry>();
  const announced: { session: LiveSession; persona: PersonaId }[] = [];
  const holders = new Set<string>();
  const names = new Map([...addresses].map(([key, address]) => [address, key]));

  const add = (key: string, name: string, entry: Omit<Entry, 'address' | 'revision'>): void => {
    holders.add(key);
    const address = addresses.get(key) ?? (names.has(name) ? `${name}-${toHash(key).slice(0, 6)}` : name);
    addresses.set(key, address);
    names.set(address, key);
    const revision = entry.boxes.reduce((sum, box) => sum + box.revision, entry.session?.revision ?? 0);
    byAddress.set(address, { ...entry, address, revision });
  };

  for (const directory of directories) {
    const { root, sessions, teams } = directory;
    const listedSessions = new Set<string>();
    for (const [id, session] of sessions) {
      const persona = findPersona(id);
      if (persona !== null) announced.push({ session, persona });
      else listedSessions.add(id);
    }
    const boxesOfLead = new Map<string, TeamInbox[]>();
    for (const team of teams.values()) {
      if (team.config === null) continue;
      const { leadSessionId, members } = team.config;
      const lead = sessions.get(leadSessionId) ?? null;
      const leadLabel = lead === null ? cleanLabel(team.name) : formatSessionLabel(lead);
      const isAlive = lead !== null && lead.goneAt === null && team.goneAt === null;
      const base = { directory, session: lead, isSession: false };
      const boxes = new Map(team.boxes);
      const prefix = toShortId(leadSessionId);
      const addBox = (name: string, label: string, box: TeamInbox | null, member: TeamMember | null): void => {
        const key = JSON.stringify([root, team.name, name]);
        const isLeaving = addresses.has(key) && (team.goneAt !== null || lead?.goneAt != null);
        if (!isAlive && !isLeaving && (box === null || !hasUnread(box))) return;
        const own = box === null ? [] : [box];
        add(key, `${prefix}-${toSlug(name)}`, { ...base, label, boxes: own, member, logs: own.map(({ log }) => log) });
      };
      for (const member of members) {
        const name = [...boxes.keys()].find((each) => hasInboxName(each, member.name)) ?? member.name;
        const box = boxes.get(name) ?? null;
        boxes.delete(name);
        if (member.name !== LEAD) {
          addBox(member.name, `${cleanLabel(member.name)} (${leadLabel})`, box, member);
          continue;
        }
        if (listedSessions.has(leadSessionId)) {
          if (box !== null) boxesOfLead.set(leadSessionId, [...(boxesOfLead.get(leadSessionId) ?? []), box]);
        } else addBox(LEAD, `${LEAD} (${leadLabel})`, box, member);
      }
      for (const [name, box] of boxes)
        if (hasUnread(box)) addBox(name, `stranded: ${cleanLabel(name)} (${leadLabel})`, box, null);
    }
    for (const [id, session] of sessions) {
      if (!listedSessions.has(id)) continue;
      const boxes = boxesOfLead.get(id) ?? [];
      const logs = [session.waits, session.mail, ...boxes.map(({ log }) => log)];
      const label = formatSessionLabel(session);
      add(JSON.stringify([root, id]), toShortId(id), {
        ...{ label, directory, session, isSession: true, boxes, member: null, logs },
      });
    }
  }
  for (const key of [...addresses.keys()]) if (!holders.has(key)) addresses.delete(key);
  return { byAddress, announced };
}

const hasUnread = ({ log }: TeamInbox): boolean => [...log.entries.values()].some(({ state }) => state === 'unread');

/** `name · folder`. Both may be any text, so they are cleaned and cut. */
function formatSessionLabel({ file: { name, cwd, sessionId } }: LiveSession): string {
  return `${cleanLabel(name ?? sessionId.slice(0, 8))} · ${cleanLabel(toFolder(cwd))}`;
}

/** Eight hex digits: the first of a session id, which is a UUID, else of its hash. */
const toShortId = (sessionId: string): string =>
  /^[\da-f]{8}/.test(sessionId) ? sessionId.slice(0, 8) : toHash(sessionId).slice(0, 8);

export const toPersonaId = (address: string): PersonaId => `${CLAUDE_PREFIX}${address}`;
