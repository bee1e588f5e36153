import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { formatIso } from '../../model/index.ts';
import type { Clock } from '../../ports/index.ts';
import type { StoreDefect } from '../source-tools.ts';
import { createMailLog, type MailLog } from './mail-log.ts';
import {
  findTranscriptEnd,
  isSessionFileName,
  listNames,
  parseSessionFile,
  parseTeamConfig,
  type ReadCalls,
  type ReadProcess,
  readLastModel,
  readTranscript,
  readWhole,
  type SessionFile,
  type TeamConfig,
  type TranscriptMessage,
  type TranscriptPosition,
  tryStat,
} from './read/index.ts';
import type { SavedPositions } from './saved-positions.ts';
import {
  createTeamInbox,
  loseMail,
  noteLateMessage,
  type TeamInbox,
  type TextRules,
  updateTeamInbox,
} from './team-inbox.ts';
import { cleanText } from './texts.ts';

/** A session that was seen alive. */
export interface LiveSession {
  /** Its file in `sessions/`. */
  readonly filename: string;
  readonly file: SessionFile;
  /** When its process was found to be gone; null while it lives. */
  readonly goneAt: { readonly instant: number; readonly monotonic: number } | null;
  /** What it waits for. */
  readonly waits: MailLog;
  /** What other sessions sent to it, and mail of a team that is gone. */
  readonly mail: MailLog;
  /** The model that answered last; null: none is known. */
  model: string | null;
  /** Its transcript and those of its members, by path, as far as they were read. */
  readonly transcripts: Map<string, TranscriptPosition | null>;
  /** Where its transcript was found in a folder of another name, and when to look for it again, on the monotonic clock. */
  readonly search: { found: string | null; nextAt: number };
  /** Rises whenever mail of it came from a transcript. */
  revision: number;
}

/** A team directory. */
export interface Team {
  readonly name: string;
  /** The last one that could be read. Null: none yet. */
  config: TeamConfig | null;
  /** By inbox name, the file name up to `.json`. */
  readonly boxes: Map<string, TeamInbox>;
  /** When its directory was found to be gone, on the monotonic clock; null while it is there. */
  goneAt: number | null;
}

export interface DirectoryOptions {
  /** The config directory, absolute. */
  readonly root: string;
  readonly files: ReadCalls;
  readonly clock: Clock;
  readonly readProcess: ReadProcess;
  readonly texts: TextRules;
  /** Of the run before; absent for none. */
  readonly saved?: SavedPositions | null;
}

/** What is known of one config directory. It only reads. */
export interface ConfigDirectory {
  readonly root: string;
  /** By session id: those that live, and those that ended a short while ago. */
  readonly sessions: ReadonlyMap<string, LiveSession>;
  readonly teams: ReadonlyMap<string, Team>;
  /** Why `sessions/` cannot be read; null when it can. */
  readonly sessionsTrouble: string | null;
  readonly teamsTrouble: string | null;
  /** How many files are of processes that ended before they were seen. */
  readonly orphans: number;
  readonly defects: readonly StoreDefect[];
  /** Rises whenever anything here changed. */
  readonly revision: number;
  /** Reads everything that may have changed. */
  scan(): void;
  /** Reads one session file again. */
  readSession(filename: string): void;
  /** Reads what the directory of teams holds now. */
  scanTeams(): void;
  /** Reads one team again: its members and all of its inboxes. */
  readTeam(name: string): void;
  readBox(team: string, inbox: string): void;
  /** Reads what is new in the transcripts of a session and of its members. @returns whether there is more to read now */
  readTranscripts(sessionId: string): boolean;
  /** How far the transcripts of those that live were read. */
  collectPositions(): SavedPositions;
  /** Finds out whether the process of a session ended. */
  checkProcess(sessionId: string): void;
  /** Forgets what went away a while ago. */
  forgetOld(): void;
}

/** The lead of a team has this name in it. */
export const LEAD = 'team-lead';
/** How long a thing that went away stays on the board. */
export const RETENTION_MS = 300_000;
/** How often all folders are searched for a transcript that is not where it should be. */
const SEARCH_EVERY_MS = 60_000;
const MOST_SESSION_BYTES = 64 * 1024;
const MOST_CONFIG_BYTES = 4 * 1024 * 1024;

export function createConfigDirectory(options: DirectoryOptions): ConfigDirectory {
  const { root, files, clock, readProcess, texts } = options;
  const [sessionsPath, teamsPath] = [join(root, 'sessions'), join(root, 'teams')];
  const sessions = new Map<string, LiveSession>();
  const teams = new Map<string, Team>();
  /** Each session file as it was read last, and whose it is; null for nobody's. */
  const sessionFiles = new Map<string, { readonly text: string; readonly sessionId: string | null }>();
  const orphanFiles = new Set<string>();
  const sessionDefects = new Map<string, StoreDefect>();
  const teamDefects = new Map<string, StoreDefect>();
  let sessionsTrouble: string | null = null;
  let teamsTrouble: string | null = null;
  let wasScanned = false;
  let revision = 0;

  function scanSessions(): void {
    const listed = listNames(files, sessionsPath);
    setTroubles(listed.is === 'refused' ? listed.why : null, teamsTrouble);
    if (listed.is === 'refused') return;
    const names = listed.is === 'names' ? listed.names.filter(isSessionFileName) : [];
    for (const filename of names) readSession(filename);
    const listedNames = new Set(names);
    for (const filename of [...sessionFiles.keys()]) if (!listedNames.has(filename)) readSession(filename);
  }

  function setTroubles(ofSessions: string | null, ofTeams: string | null): void {
    if (ofSessions === sessionsTrouble && ofTeams === teamsTrouble) return;
    [sessionsTrouble, teamsTrouble] = [ofSessions, ofTeams];
    revision += 1;
  }

  function readSession(filename: string): void {
    if (!isSessionFileName(filename)) return;
    const content = readWhole(files, join(sessionsPath, filename), MOST_SESSION_BYTES);
    if (content.is === 'refused') {
      sessionDefects.set(filename, { filename, message: content.why });
      return;
    }
    sessionDefects.delete(filename);
    if (content.is === 'absent') {
      forgetFile(filename);
      return;
    }
    const text = content.bytes.toString('utf8');
    if (sessionFiles.get(filename)?.text === text) return;
    let file: SessionFile | null;
    try {
      file = parseSessionFile(text);
    } catch {
      return; // it is being written
    }
    sessionFiles.set(filename, { text, sessionId: file?.sessionId ?? null });
    if (file === null) return;
    for (const { filename: other, file: before } of [...sessions.values()])
      if (other === filename && before.sessionId !== file.sessionId) sessions.delete(before.sessionId); // another one now
    revision += 1;
    if (!isAlive(file)) {
      const known = sessions.get(file.sessionId);
      if (known === undefined) orphanFiles.add(filename);
      else if (known.goneAt === null) end(known);
      return;
    }
    orphanFiles.delete(filename);
    const before = sessions.get(file.sessionId);
    const memory = before ?? {
      waits: createMailLog(),
      mail: createMailLog(),
      model: null,
      transcripts: new Map(),
      search: { found: null, nextAt: 0 },
      revision: 0,
    };
    noteWait(memory.waits, file);
    sessions.set(file.sessionId, { ...memory, filename, file, goneAt: null });
  }

  function isAlive({ pid, procStart }: SessionFile): boolean {
    const sign = readProcess(pid);
    return sign.is === 'running' && (sign.startKey === null || sign.startKey === procStart);
  }

  function noteWait(waits: MailLog, file: SessionFile): void {
    const key = file.status === 'waiting' ? toWaitKey(file) : null;
    waits.end('cleared', (entry) => entry.key !== key);
    if (key === null || waits.entries.has(key)) return;
    const why = cleanText(file.waitingFor ?? 'input', texts.contentChars ?? 0);
    waits.add({
      ...{ key, appeared: 'action', state: 'unread', from: null, isUrgent: false, quietUntil: 0 },
      created: file.statusUpdatedAt === null ? null : formatIso(file.statusUpdatedAt),
      content: texts.contentChars === null ? null : why,
      extra: { wait: true, session: file.sessionId },
      since: clock.monotonic(),
      sinceAt: file.statusUpdatedAt ?? clock.now(),
    });
  }

  function end(session: LiveSession): void {
    revision += 1;
    session.waits.end('cleared', () => true);
    const goneAt = { instant: clock.now(), monotonic: clock.monotonic() };
    for (const [filename, { sessionId }] of sessionFiles) {
      if (sessionId !== session.file.sessionId || filename === session.filename) continue;
      sessionFiles.delete(filename); // two processes had the same session, and the other one may live
      readSession(filename);
      if (sessions.get(sessionId)?.filename === filename) return;
    }
    // A session without a terminal ended as it should, and nobody goes on with it.
    if (isWithoutTerminal(session.file)) sessions.delete(session.file.sessionId);
    else sessions.set(session.file.sessionId, { ...session, goneAt });
  }

  function forgetFile(filename: string): void {
    sessionFiles.delete(filename);
    orphanFiles.delete(filename);
    for (const session of [...sessions.values()])
      if (session.filename === filename && session.goneAt === null) end(session);
  }

  function scanTeams(): void {
    const listed = listNames(files, teamsPath);
    setTroubles(sessionsTrouble, listed.is === 'refused' ? listed.why : null);
    if (listed.is === 'refused') return;
    const names = listed.is === 'names' ? listed.names : [];
    for (const name of new Set([...names, ...teams.keys()])) readTeam(name);
  }

  function readTeam(name: string): void {
    const directory = join(teamsPath, name);
    const config = readWhole(files, join(directory, 'config.json'), MOST_CONFIG_BYTES);
    const inboxes = listNames(files, join(directory, 'inboxes'));
    const known = teams.get(name);
    if (config.is === 'absent' && inboxes.is === 'absent') {
      if (known === undefined || known.goneAt !== null) return;
      const listed = listNames(files, directory);
      if (listed.is !== 'absent') return; // it has nothing yet, or cannot be read now
      teamDefects.delete(name);
      known.goneAt = clock.monotonic();
      revision += 1;
      for (const box of known.boxes.values()) loseMail(box);
      return;
    }
    const team: Team = known ?? { name, config: null, boxes: new Map(), goneAt: null };
    if (known === undefined || team.goneAt !== null) revision += 1;
    team.goneAt = null;
    teams.set(name, team);
    if (config.is === 'bytes') readConfig(team, config.bytes.toString('utf8'));
    if (inboxes.is === 'refused') {
      for (const box of team.boxes.values()) noteBoxTrouble(box, inboxes.why);
      if (team.boxes.size === 0) teamDefects.set(name, { filename: `${name}/inboxes`, message: inboxes.why });
      return;
    }
    const boxNames = new Set(inboxes.is === 'names' ? inboxes.names.flatMap(toBoxName) : []);
    for (const box of new Set([...boxNames, ...team.boxes.keys()])) {
      readBox(name, box);
      const isMember = team.config?.members.some((member) => hasInboxName(box, member.name)) ?? true;
      // An inbox that is not there may be on its way. One whose member left is not.
      const left = boxNames.has(box) || isMember ? undefined : team.boxes.get(box);
      if (left !== undefined && loseMail(left)) revision += 1;
    }
  }

  /** A file that is empty or cut off is being written, in place. The members stay as they were. */
  function readConfig(team: Team, text: string): void {
    try {
      const config = parseTeamConfig(text);
      if (config !== null && !isDeepStrictEqual(config, team.config)) {
        team.config = config;
        revision += 1;
      }
      teamDefects.delete(team.name);
      if (config === null) teamDefects.set(team.name, { filename: `${team.name}/config.json`, message: 'is no team' });
    } catch {
      // read again at the next change, which the end of the writing is
    }
  }

  function readBox(teamName: string, name: string): void {
    const team = teams.get(teamName);
    if (team === undefined) return;
    const path = join(teamsPath, teamName, 'inboxes', `${name}.json`);
    let box = team.boxes.get(name);
    if (box === undefined) {
      box = createTeamInbox({ team: teamName, name, path, isOld: !wasScanned });
      restoreUnmatched(box);
      team.boxes.set(name, box);
      revision += 1;
    }
    if (updateTeamInbox(box, files, clock, texts)) revision += 1;
  }

  /**
   * Where the program keeps the transcript of a session: in a folder that is named after its own. Where there is none, the id is
   * looked for in all folders, now and then.
   */
  function findTranscript(session: LiveSession): string {
    const { cwd, sessionId } = session.file;
    const projects = join(root, 'projects');
    const folder = cwd.replaceAll(/[^\dA-Za-z]/g, '-');
    const own = join(projects, folder, `${sessionId}.jsonl`);
    const { found } = session.search;
    if (found !== null) return found;
    const now = clock.monotonic();
    if (now < session.search.nextAt || tryStat(files, join(projects, folder)) !== null) return own;
    session.search.nextAt = now + SEARCH_EVERY_MS;
    const listed = listNames(files, projects);
    const paths = listed.is === 'names' ? listed.names.map((name) => join(projects, name, `${sessionId}.jsonl`)) : [];
    session.search.found = paths.find((path) => tryStat(files, path) !== null) ?? null;
    return session.search.found ?? own;
  }

  function readTranscripts(sessionId: string): boolean {
    const session = sessions.get(sessionId);
    if (session === undefined) return false;
    const path = findTranscript(session);
    const leads = [...teams.values()].filter(({ config }) => config?.leadSessionId === sessionId);
    const read = (file: string, inbox: string): boolean => {
      const position = openTranscript(session, file);
      if (position === null) return false;
      const { messages, model, hasMore } = readTranscript(files, file, position);
      if (inbox === LEAD && model !== null) session.model = model;
      for (const message of messages) noteMessage(session, leads, inbox, message);
      return hasMore;
    };
    let hasMore = read(path, LEAD);
    if (leads.length === 0) return hasMore;
    const folder = join(path.slice(0, -'.jsonl'.length), 'subagents');
    const listed = listNames(files, folder);
    const isFirst = !session.transcripts.has(folder) && options.saved?.offsets[path] === undefined;
    session.transcripts.set(folder, null);
    for (const name of listed.is === 'names' ? listed.names : []) {
      const [, member] = /^agent-a(.+)-[\da-f]+\.jsonl$/.exec(name) ?? [];
      if (member === undefined) continue;
      const file = join(folder, name);
      // One that comes later is read from its beginning.
      if (!isFirst && !session.transcripts.has(file)) session.transcripts.set(file, { offset: 0, isInLongLine: false });
      if (read(file, member)) hasMore = true;
    }
    return hasMore;
  }

  /** What is in a transcript when it is first seen is from before. One that was not there yet is read from its beginning. */
  function openTranscript({ transcripts, ...session }: LiveSession, path: string): TranscriptPosition | null {
    const known = transcripts.get(path);
    if (known != null) return known;
    const end = findTranscriptEnd(files, path);
    const offset = options.saved?.offsets[path];
    const from = known === null ? 0 : offset;
    const position = end === null || from === undefined ? end : { ...end, offset: Math.min(from, end.offset) };
    if (known === undefined && end !== null) {
      const own = sessions.get(session.file.sessionId);
      if (own !== undefined) own.model ??= readLastModel(files, path);
    }
    transcripts.set(path, position);
    return position;
  }

  function collectPositions(): SavedPositions {
    const living = [...sessions.values()].filter(({ goneAt }) => goneAt === null);
    const read = living.flatMap(({ transcripts }) => [...transcripts]);
    const boxes = [...teams.values()].flatMap(({ boxes }) => [...boxes.values()]);
    return {
      offsets: Object.fromEntries(
        read.flatMap(([path, position]) => (position === null ? [] : [[path, position.offset]])),
      ),
      unmatched: Object.fromEntries(
        boxes.flatMap(({ path, unmatched }) => [...unmatched].map(([hash, count]) => [`${path} ${hash}`, count])),
      ),
    };
  }

  function restoreUnmatched({ path, unmatched }: TeamInbox): void {
    for (const [key, count] of Object.entries(options.saved?.unmatched ?? {}))
      if (key.startsWith(`${path} `)) unmatched.set(key.slice(path.length + 1), count);
  }

  function noteMessage(session: LiveSession, leads: readonly Team[], inbox: string, message: TranscriptMessage): void {
    const boxes = leads.flatMap((team) => [...team.boxes].filter(([name]) => hasInboxName(name, inbox)));
    const [, box = null] = message.is === 'team' ? (boxes[0] ?? []) : [];
    // What was seen in the file must be noted before what the transcript says of it.
    if (box !== null) readBox(box.team, box.name);
    if (!noteLateMessage(message, box, box?.log ?? session.mail, clock, texts)) return;
    session.revision += 1;
    revision += 1;
  }

  function noteBoxTrouble(box: TeamInbox, why: string): void {
    if (box.trouble?.why !== why) {
      box.revision += 1;
      revision += 1;
    }
    box.trouble = { why, since: box.trouble?.since ?? clock.monotonic() };
  }

  return {
    root,
    sessions,
    teams,
    get sessionsTrouble() {
      return sessionsTrouble;
    },
    get teamsTrouble() {
      return teamsTrouble;
    },
    get orphans() {
      return orphanFiles.size;
    },
    get revision() {
      return revision;
    },
    get defects() {
      return [...sessionDefects.values(), ...teamDefects.values()];
    },
    scan() {
      scanSessions();
      scanTeams();
      wasScanned = true;
    },
    readSession,
    scanTeams,
    readTeam,
    readBox,
    readTranscripts,
    collectPositions,
    checkProcess(sessionId) {
      const session = sessions.get(sessionId);
      if (session !== undefined && session.goneAt === null && !isAlive(session.file)) end(session);
    },
    forgetOld() {
      const before = clock.monotonic() - RETENTION_MS;
      for (const [id, { goneAt }] of sessions)
        if (goneAt !== null && goneAt.monotonic < before) {
          sessions.delete(id);
          revision += 1;
        }
      for (const [name, { goneAt }] of teams)
        if (goneAt !== null && goneAt < before) {
          teams.delete(name);
          revision += 1;
        }
    },
  };
}

/** The name of an inbox by that of its file; none for locks and files that are being written. */
export function toBoxName(filename: string): readonly string[] {
  return filename.endsWith('.json') && !filename.startsWith('.') ? [filename.slice(0, -'.json'.length)] : [];
}

/** Whether a member has this inbox. The program spells a name in its own way in the name of the file. */
export const hasInboxName = (box: string, member: string): boolean =>
  box === member || box === member.replaceAll(/[^\w-]/g, '-');

/** Later versions write a status for it too. */
const isWithoutTerminal = ({ status, entrypoint }: SessionFile): boolean =>
  status === null || entrypoint?.startsWith('sdk-') === true;

const toWaitKey = ({ sessionId, statusUpdatedAt, startedAt }: SessionFile): string =>
  `${WAIT}${sessionId}:${statusUpdatedAt ?? startedAt ?? 0}`;

/** What the keys of waits begin with. */
export const WAIT = 'wait:';
