import { join, resolve } from 'node:path';
import {
  type CommandSchema,
  defineCommand,
  type Io,
  type ParsedValues,
  toUsageFault,
} from '../../core/command/index.ts';
import { displayJson, displayName, formatUtcTime } from '../../core/format/index.ts';
import { openItems } from '../../core/inbox/index.ts';
import { toWakeFile, writeWake } from '../../core/link/index.ts';
import { formatIso } from '../../core/model/index.ts';
import { realClock, realRandom } from '../../core/ports/index.ts';
import { createRealDisk, type Database, findOwnDirs, openStore } from '../../core/state/index.ts';
import { locateInbox, openWakeStore } from '../hook/index.ts';
import {
  openSessionStore,
  type Pane,
  parseTmuxServer,
  readStartKey,
  type Session,
  type SessionStore,
} from '../open/index.ts';
import { findThread } from './codex.node.ts';
import { DATABASE } from './open-local-hive.ts';
import { createStderrLog } from './process.node.ts';
import { findHome, findLock, findRunnerLife, getSurroundings } from './session-surroundings.node.ts';

const WHOSE = { value: 'PERSONA', completes: 'persona' } as const;
const takesPersona = (verb: string) =>
  ({ persona: { ...WHOSE, missing: `session ${verb}: PERSONA is missing: use the name of a persona` } }) as const;

const SCHEMA = {
  name: 'session',
  about: [
    'Records where a persona works, so that a click on it opens the session. The last 10 sessions of each persona are kept.',
  ],
  verbs: {
    set: {
      help: 'record a session as the newest; what you leave out is taken from where the command runs',
      positionals: takesPersona('set'),
      rest: { value: 'COMMAND...', help: 'the command that resumes the session in a new terminal' },
      flags: {
        id: {
          type: 'string',
          value: 'ID',
          help: 'the id that the agent program gave the session (default: CODEX_THREAD_ID)',
        },
        cwd: {
          type: 'string',
          value: 'DIR',
          completes: 'file',
          help: 'its working directory (default: the current folder)',
        },
        'tmux-pane': {
          type: 'string',
          value: '%N',
          help: 'its pane on the tmux server named in TMUX (default: TMUX_PANE)',
        },
        pid: {
          type: 'string',
          value: 'PID',
          parse: parsePid,
          help: 'the process of the session (default: the one that runs this command)',
        },
        wake: {
          type: 'string',
          value: 'URL',
          help: 'an http address of this machine that Hivebar calls when the persona is idle and something arrives; "" removes it',
        },
      },
    },
    end: {
      help: 'record that a session is over; it can still be resumed',
      positionals: takesPersona('end'),
      flags: { id: { type: 'string', value: 'ID', help: 'which session (default: the newest)' } },
    },
    list: {
      help: 'list all recorded sessions, or those of PERSONA, newest first',
      positionals: { persona: { ...WHOSE, optional: true } },
      flags: { json: { type: 'boolean', help: 'print JSON for a script' } },
    },
  },
  examples: [
    { run: 'hivebar session set ada', does: 'record that ada works in this folder, pane and shell' },
    {
      run: 'hivebar session set ada --id 7f3c --pid $PPID -- claude --resume 7f3c',
      does: 'from a hook, with the command that resumes',
    },
    { run: 'hivebar session end ada --id 7f3c', does: 'record that it is over' },
  ],
} as const satisfies CommandSchema;

type SessionVerb = ParsedValues<typeof SCHEMA>['verb'];
type SessionValues<V extends SessionVerb> = Extract<ParsedValues<typeof SCHEMA>, { readonly verb: V }>;

export const command = defineCommand(SCHEMA, (values, io) => {
  switch (values.verb) {
    case 'set':
      return set(values, io);
    case 'end':
      return end(values, io);
    case 'list':
      return list(values, io);
  }
});

function set(options: SessionValues<'set'>, io: Io): number {
  const { persona, rest } = options;
  const { cwd, parent, platform } = getSurroundings();
  const pid = options.pid ?? parent;
  const startKey = readStartKey(pid, platform);
  if (startKey === null && findRunnerLife({ pid, startKey }) === 'gone')
    throw toUsageFault(new Error(`--pid ${pid}: no such process`));
  const id = options.id ?? findThread(io.env);
  // A command that Codex runs ends, and so does its shell. Only the thread tells whether the session lives.
  const codex = id === null ? null : findHome('codex', io.env);
  const lock = id === null || codex === null ? null : findLock(codex, id);
  const announcement = {
    persona,
    id,
    cwd: resolve(cwd, options.cwd ?? ''),
    pane: parsePane(options['tmux-pane'], io.env),
    runner: { pid, startKey, lock },
    harness: lock === null || codex === null ? null : { name: 'codex', home: codex },
    resume: rest === null || rest.length === 0 ? null : rest,
  };
  runWithSessions(io, (sessions, db) => {
    if (options.wake !== undefined) setWake(db, persona, options.wake === '' ? null : options.wake, io);
    sessions.set(announcement, realClock.now());
  });
  io.out(
    `${displayName(persona)}: session${id === null ? '' : ` ${displayName(id)}`} in ${displayName(announcement.cwd)}\n`,
  );
  return 0;
}

/** Stores the wake address: in the database for the tray process, in a file for the daemon of the persona. */
function setWake(db: Database, persona: string, url: string | null, io: Io): void {
  const wakes = openWakeStore(db);
  wakes.set(persona, url);
  const disk = createRealDisk(createStderrLog(io, 'hivebar session'));
  writeWake(disk, realRandom, toWakeFile(findOwnDirs({ ...io.env }).run, persona), wakes.find(persona));
}

function end(options: SessionValues<'end'>, io: Io): number {
  const { persona } = options;
  const { config } = findOwnDirs({ ...io.env });
  const ended = runWithSessions(io, (sessions, db) => {
    const over = sessions.end(persona, options.id ?? null, realClock.now());
    // Items that wait for this session go to the next session of the persona.
    if (over !== null && over.id !== null)
      openItems({ db, clock: realClock }).endSession(locateInbox(persona, config).name, over.id);
    return over;
  });
  if (ended === null) {
    const which = options.id === undefined ? 'session that is not over' : `session ${displayName(options.id)}`;
    io.err(`hivebar session: ${displayName(persona)} has no ${which}: see hivebar session list\n`);
    return 1;
  }
  io.out(`${displayName(persona)}: the session in ${displayName(ended.cwd)} is over\n`);
  return 0;
}

function list({ persona, json }: SessionValues<'list'>, io: Io): number {
  const stored = runWithSessions(io, (sessions) =>
    persona === undefined ? sessions.listAll() : sessions.list(persona),
  );
  const rows = stored.map((session) => ({ session, state: getState(session) }));
  if (json) io.out(`${displayJson(JSON.stringify(rows.map(({ session, state }) => toSessionWire(session, state))))}\n`);
  else if (rows.length === 0) io.out('no session is recorded\n');
  else for (const { session, state } of rows) io.out(`${formatSession(session, state)}\n`);
  return 0;
}

type SessionState = 'live' | 'gone' | 'unknown';

function getState({ endedAt, runner }: Session): SessionState {
  return endedAt === null ? findRunnerLife(runner) : 'gone';
}

function formatSession({ persona, id, cwd, pane, announcedAt, resume }: Session, state: SessionState): string {
  const parts = [
    state.padEnd(7),
    formatUtcTime(formatIso(announcedAt)),
    displayName(persona),
    id === null ? null : displayName(id),
    displayName(cwd),
    pane === null ? null : `tmux ${pane.pane}`,
    resume === null ? null : `resumed by ${resume.map((item) => displayName(JSON.stringify(item))).join(' ')}`,
  ];
  return parts.filter((part) => part !== null).join('  ');
}

function toSessionWire({ persona, id, cwd, pane, runner, resume, announcedAt, endedAt }: Session, state: SessionState) {
  return {
    persona,
    id,
    state,
    cwd,
    tmux: pane,
    pid: runner.pid,
    resume,
    announcedAt: formatIso(announcedAt),
    endedAt: endedAt === null ? null : formatIso(endedAt),
  };
}

function runWithSessions<T>(io: Io, work: (sessions: SessionStore, db: Database) => T): T {
  using db = openStore(join(findOwnDirs({ ...io.env }).state, DATABASE), {
    log: createStderrLog(io, 'hivebar session'),
  });
  return work(openSessionStore(db), db);
}

function parsePane(paneFlag: string | undefined, { TMUX, TMUX_PANE }: Io['env']): Pane | null {
  const pane = paneFlag ?? TMUX_PANE;
  if (pane === undefined || pane === '') return null;
  const server = TMUX === undefined ? null : parseTmuxServer(TMUX);
  if (server !== null) return { ...server, pane };
  // TMUX_PANE without TMUX is a leftover of a tmux that the person has left. A flag, however, is a request.
  if (paneFlag === undefined) return null;
  throw toUsageFault(
    new Error(`--tmux-pane ${paneFlag}: the variable TMUX does not name a tmux server; run this inside tmux`),
  );
}

function parsePid(text: string): number {
  if (/^\d{1,10}$/.test(text)) return Number(text);
  throw new Error(`--pid ${text}: must be the number of a process`);
}
