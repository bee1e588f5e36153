import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { openItems } from '../../core/inbox/index.ts';
import { noteWake, wakeFile } from '../../core/link/index.ts';
import { isoOf } from '../../core/model/index.ts';
import { realClock, realRandom } from '../../core/ports/index.ts';
import { type Database, openStore, ownDirs, realDisk } from '../../core/state/index.ts';
import { inboxesOf, keptWakes } from '../hook/index.ts';
import { keptSessions, type Pane, type Session, type Sessions, startKeyOf, tmuxServerOf } from '../open/index.ts';
import { printable, printableJson } from '../printable.ts';
import { findThread } from './codex-env.ts';
import type { Command, Io } from './command.ts';
import { findHome, findLock } from './harness-home.node.ts';
import { usage } from './outcome.ts';
import { lifeHere, surroundings } from './session-surroundings.node.ts';
import { stderrLog } from './stderr-log.ts';
import { DATABASE } from './with-hive.ts';

export const command: Command = {
  usage: 'session set|end|list [PERSONA] [flags] [-- RESUME COMMAND...]',
  about: [
    'Says who works where, so that a click on a persona opens its session. The last 10 sessions of a persona are kept.',
    '',
    'set PERSONA   this session is now the newest; what is not given comes from where the command runs',
    '  --id ID           the name by which the agent program knows the session (default: CODEX_THREAD_ID)',
    '  --cwd DIR         where it works (default: the current folder)',
    '  --tmux-pane %N    its pane on the tmux server named in TMUX (default: TMUX_PANE)',
    '  --pid PID         the process that is the session (default: the one that runs this command)',
    '  --wake URL        where this persona is woken when it is idle and something comes: http on this machine; "" for no more',
    '  -- COMMAND...     what takes the session up again in a new terminal, item by item',
    'end PERSONA   the session with --id is over, else the newest; it can still be resumed',
    'list          all that are kept, or those of PERSONA, newest first; --json for a script',
  ],
  examples: [
    { run: 'hivebar session set ada', does: 'ada works here: in this folder, this pane, this shell' },
    {
      run: 'hivebar session set ada --id 7f3c --pid $PPID -- claude --resume 7f3c',
      does: 'from a hook, with the command that resumes',
    },
    { run: 'hivebar session end ada --id 7f3c', does: 'it is over' },
  ],
  async run(args, io) {
    const asked = parsed(args);
    switch (asked.verb) {
      case 'set':
        return set(asked, io);
      case 'end':
        return end(asked, io);
      case 'list':
        return list(asked, io);
    }
  },
};

type Asked = ReturnType<typeof parsed>;

function set(asked: Asked, io: Io): number {
  const persona = whose(asked);
  const { cwd, parent, platform } = surroundings();
  const pid = asked.pid === undefined ? parent : pidOf(asked.pid);
  const startKey = startKeyOf(pid, platform);
  if (startKey === null && lifeHere({ pid, startKey }) === 'gone')
    throw usage(new Error(`--pid ${pid}: there is no such process`));
  const id = asked.id ?? findThread(io.env);
  // A command that Codex runs ends, and so does its shell: the thread tells whether the session lives.
  const codex = id === null ? null : findHome('codex', io.env);
  const lock = id === null || codex === null ? null : findLock(codex, id);
  const announcement = {
    persona,
    id,
    cwd: resolve(cwd, asked.cwd ?? ''),
    pane: paneOf(asked['tmux-pane'], io.env),
    runner: { pid, startKey, lock },
    harness: lock === null || codex === null ? null : { name: 'codex', home: codex },
    resume: asked.resume.length === 0 ? null : asked.resume,
  };
  withSessions(io, (sessions, db) => {
    if (asked.wake !== undefined) setWake(db, persona, asked.wake === '' ? null : asked.wake, io);
    sessions.set(announcement, realClock.now());
  });
  io.out(`${printable(persona)}: session${id === null ? '' : ` ${printable(id)}`} in ${printable(announcement.cwd)}\n`);
  return 0;
}

/** For the tray process in the database, for the daemon of the persona in a file. */
function setWake(db: Database, persona: string, url: string | null, io: Io): void {
  const wakes = keptWakes(db);
  wakes.set(persona, url);
  const disk = realDisk(stderrLog(io, 'hivebar session'));
  noteWake(disk, realRandom, wakeFile(ownDirs({ ...io.env }).run, persona), wakes.of(persona));
}

function end(asked: Asked, io: Io): number {
  const persona = whose(asked);
  const { config } = ownDirs({ ...io.env });
  const ended = withSessions(io, (sessions, db) => {
    const over = sessions.end(persona, asked.id ?? null, realClock.now());
    // What waits for it is for the next session of the persona.
    if (over !== null && over.id !== null)
      openItems({ db, clock: realClock }).endSession(inboxesOf(persona, config).name, over.id);
    return over;
  });
  if (ended === null) {
    const which = asked.id === undefined ? 'session that is not over' : `session ${printable(asked.id)}`;
    io.err(`hivebar session: ${printable(persona)} has no ${which}: see hivebar session list\n`);
    return 1;
  }
  io.out(`${printable(persona)}: the session in ${printable(ended.cwd)} is over\n`);
  return 0;
}

function list({ persona, json }: Asked, io: Io): number {
  const kept = withSessions(io, (sessions) => (persona === undefined ? sessions.all() : sessions.of(persona)));
  const shown = kept.map((session) => ({ session, state: stateOf(session) }));
  if (json) io.out(`${printableJson(JSON.stringify(shown.map(({ session, state }) => wireOf(session, state))))}\n`);
  else if (shown.length === 0) io.out('no session is known\n');
  else for (const { session, state } of shown) io.out(`${lineOf(session, state)}\n`);
  return 0;
}

type State = 'live' | 'gone' | 'unknown';

function stateOf({ endedAt, runner }: Session): State {
  return endedAt === null ? lifeHere(runner) : 'gone';
}

function lineOf({ persona, id, cwd, pane, announcedAt, resume }: Session, state: State): string {
  const parts = [
    state.padEnd(7),
    `${isoOf(announcedAt).slice(0, 19)}Z`,
    printable(persona),
    id === null ? null : printable(id),
    printable(cwd),
    pane === null ? null : `tmux ${pane.pane}`,
    resume === null ? null : `resumed by ${resume.map((item) => printable(JSON.stringify(item))).join(' ')}`,
  ];
  return parts.filter((part) => part !== null).join('  ');
}

function wireOf({ persona, id, cwd, pane, runner, resume, announcedAt, endedAt }: Session, state: State) {
  return {
    persona,
    id,
    state,
    cwd,
    tmux: pane,
    pid: runner.pid,
    resume,
    announcedAt: isoOf(announcedAt),
    endedAt: endedAt === null ? null : isoOf(endedAt),
  };
}

function withSessions<T>(io: Io, work: (sessions: Sessions, db: Database) => T): T {
  using db = openStore(join(ownDirs({ ...io.env }).state, DATABASE), { log: stderrLog(io, 'hivebar session') });
  return work(keptSessions(db), db);
}

function paneOf(given: string | undefined, { TMUX, TMUX_PANE }: Io['env']): Pane | null {
  const pane = given ?? TMUX_PANE;
  if (pane === undefined || pane === '') return null;
  const server = TMUX === undefined ? null : tmuxServerOf(TMUX);
  if (server !== null) return { ...server, pane };
  // TMUX_PANE without TMUX is what is left of a tmux that was gone out of; a flag is a wish.
  if (given === undefined) return null;
  throw usage(new Error(`--tmux-pane ${given}: the variable TMUX does not say which tmux`));
}

function whose({ verb, persona }: Asked): string {
  if (persona === undefined || persona === '')
    throw usage(new Error(`session ${verb}: whose? Give the id of a persona`));
  return persona;
}

function pidOf(text: string): number {
  if (/^\d{1,10}$/.test(text)) return Number(text);
  throw usage(new Error(`--pid ${text} is not the number of a process`));
}

function parsed(args: readonly string[]) {
  // What resumes may hold anything, also what looks like a flag of ours.
  const dashes = args.indexOf('--');
  const ours = dashes === -1 ? args : args.slice(0, dashes);
  const resume = dashes === -1 ? [] : args.slice(dashes + 1);
  try {
    const { values, positionals } = parseArgs({
      args: [...ours],
      options: {
        id: { type: 'string' },
        cwd: { type: 'string' },
        'tmux-pane': { type: 'string' },
        pid: { type: 'string' },
        wake: { type: 'string' },
        json: { type: 'boolean', default: false },
      },
      allowPositionals: true,
    });
    const [verb, persona, ...rest] = positionals;
    if (verb !== 'set' && verb !== 'end' && verb !== 'list') throw new Error('say set, end or list');
    if (rest.length > 0) throw new Error(`session ${verb}: ${rest.join(' ')} is too much; what resumes comes after --`);
    const { json, ...given } = values;
    const foreign = Object.keys(given).filter((flag) => verb === 'list' || (verb === 'end' && flag !== 'id'));
    if (json && verb !== 'list') foreign.push('json');
    if (foreign.length > 0) throw new Error(`session ${verb} takes no --${foreign[0]}`);
    if (resume.length > 0 && verb !== 'set') throw new Error(`session ${verb} takes no command`);
    return { ...values, verb, persona, resume } as const;
  } catch (error) {
    throw usage(error);
  }
}
