import { isDeepStrictEqual } from 'node:util';
import type { Board } from '../../core/board/index.ts';
import { combineSessionStates, type NotedMoment, type SessionReport, toSessionState } from '../../core/hooks/index.ts';
import type { AgentState, Instant, PersonaId } from '../../core/model/index.ts';
import { every, type Service } from '../../core/services/index.ts';
import { type Database, type Dirs, toStem } from '../../core/state/index.ts';
import { listPersonaForms, openSessionReports, readActivity, watchSessionReports } from '../hook/index.ts';
import type { Machine } from '../host/machine.node.ts';
import { createLivenessCheck, openSessionStore, type Session, type SessionProcess } from '../open/index.ts';

/** How often processes are checked, because nothing says that one was killed. It also finds what no change notice said. */
const SWEEP_MS = 10_000;
/** How often a sweep looks at everybody, whether something changed or not. */
const WHOLE_MS = 600_000;
/** A hook reports before it announces its session, so whose session it is may be known only after this. */
const ANNOUNCED_MS = 500;
/** What ended is shown for a week. Later, somebody may work for the persona in a way that nobody announced. */
const KEEP_MS = 7 * 86_400_000;

interface AgentReportsOptions {
  readonly db: Database;
  readonly dirs: Dirs;
  readonly board: Board;
  /** The persona that is this session, where no persona announced it; null for none. */
  readonly findSessionOwner: (sessionId: string) => PersonaId | null;
}

/** One session of a persona. At least one of the two says something. */
interface KnownSession {
  readonly persona: PersonaId;
  /** Null: no hook of it ran. */
  report: SessionReport | null;
  readonly announced: Session | null;
}

/** How the process of a session was found last. */
interface ProcessLife {
  readonly is: 'live' | 'gone' | 'unknown';
  /** When it ended, where this run saw that. */
  readonly endedAt: Instant | null;
}

/**
 * Puts what hooks report of their sessions on the board, as the fact `agent` (docs/contract/agent-state.md). Reports are files, so a
 * restart finds them. A session whose process ended is gone, whatever it reported last.
 */
export function createAgentReportsService(options: AgentReportsOptions, machine: Machine): Service {
  const { db, dirs, board } = options;
  const { clock, log } = machine;
  const reports = openSessionReports(dirs.run);
  const announcements = openSessionStore(db);
  const checkProcess = createLivenessCheck(machine.os);
  const lives = new Map<string, ProcessLife>();
  let sessions: ReadonlyMap<PersonaId, readonly KnownSession[]> = new Map();
  let byId: ReadonlyMap<string, KnownSession> = new Map();
  let byStem: ReadonlyMap<string, PersonaId> = new Map();
  const shown = new Map<PersonaId, AgentState>();
  /** What each persona was shown from in the last sweep. */
  const marks = new Map<PersonaId, string>();
  /** When a sweep last showed everybody. */
  let wholeAt: Instant = 0;
  /** No change notices come. */
  let isDeaf = false;
  /** The ids on the board that a persona may have: one of the local hive may have been named by its name or by its id. */
  const forms = new Map<PersonaId, readonly PersonaId[]>();

  /** Lists the sessions of every persona. */
  function list(): readonly KnownSession[] {
    const open = new Map(reports.list().map((report) => [report.session, report]));
    const announced = announcements.listAll().map((session): KnownSession => {
      const report = open.get(session.id ?? '');
      const isSame = report !== undefined && (report.persona ?? session.persona) === session.persona;
      if (isSame) open.delete(report.session);
      return { persona: session.persona, report: isSame ? report : null, announced: session };
    });
    const others = [...open.values()].flatMap((report): readonly KnownSession[] => {
      const persona = report.persona ?? options.findSessionOwner(report.session);
      return persona === null ? [] : [{ persona, report, announced: null }];
    });
    return [...announced, ...others];
  }

  function assign(): void {
    const all = list();
    sessions = Map.groupBy(all, ({ persona }) => persona);
    byId = new Map(all.flatMap((session) => (session.report === null ? [] : [[session.report.session, session]])));
    byStem = new Map([...sessions.keys()].map((persona) => [toStem(persona), persona]));
  }

  function checkProcesses(): void {
    const checked = new Set<string>();
    for (const session of [...sessions.values()].flat()) {
      const runner = findRunner(session);
      if (runner === null || isEnded(session)) continue;
      const key = toRunnerKey(runner);
      if (checked.has(key)) continue;
      checked.add(key);
      const before = lives.get(key);
      if (before?.is === 'gone' && runner.lock == null) continue;
      const is = checkProcess(runner);
      lives.set(key, {
        is,
        endedAt: is !== 'gone' ? null : before?.is === 'live' ? clock.now() : (before?.endedAt ?? null),
      });
    }
    for (const key of lives.keys()) if (!checked.has(key)) lives.delete(key);
  }

  /** Returns what a session does; null when nothing can be said. */
  function toState(session: KnownSession, noted: NotedMoment | null): AgentState | null {
    const { report, announced } = session;
    const reported = report === null ? null : toSessionState(report, noted);
    const cwd = report?.cwd ?? announced?.cwd;
    const details = cwd === undefined ? {} : { cwd };
    const toGone = (why: string, since: Instant | null, last: Instant): AgentState | null =>
      clock.now() - last > KEEP_MS ? null : { is: 'gone', why, ...(since !== null && { since }), ...details };
    const endedAt = reported?.is === 'gone' ? (reported.since ?? null) : (announced?.endedAt ?? null);
    if (endedAt !== null) return toGone('session-ended', endedAt, endedAt);
    const runner = findRunner(session);
    const life = runner === null ? undefined : lives.get(toRunnerKey(runner));
    if (life?.is === 'gone')
      return toGone('process-ended', life.endedAt, life.endedAt ?? report?.since ?? announced?.announcedAt ?? 0);
    return reported ?? (life?.is === 'live' ? { is: 'live', ...details } : null);
  }

  /** A moment is noted per persona, so it counts for the session that reported last. */
  function readNoted({ persona, report }: KnownSession, own: readonly KnownSession[]): NotedMoment | null {
    if (report === null || own.some((other) => (other.report?.since ?? 0) > report.since)) return null;
    return readActivity(dirs.run, persona);
  }

  function show(persona: PersonaId): void {
    const own = sessions.get(persona) ?? [];
    const open = own.filter((session) => !isEnded(session));
    const state = combineSessionStates(own.flatMap((session) => toState(session, readNoted(session, open)) ?? []));
    if (isDeepStrictEqual(shown.get(persona) ?? null, state)) return;
    if (state === null) shown.delete(persona);
    else shown.set(persona, state);
    put(persona, state);
  }

  function put(persona: PersonaId, state: AgentState | null): void {
    let ids = forms.get(persona);
    if (ids === undefined) {
      ids = listPersonaForms(persona, dirs.config);
      forms.set(persona, ids);
    }
    for (const id of ids) board.put({ is: 'agent', at: clock.now(), persona: id, reporter: 'hook', state });
  }

  function sweep(): void {
    reports.refresh(null);
    assign();
    checkProcesses();
    for (const { report } of byId.values())
      if (report?.is === 'gone' && clock.now() - report.since > KEEP_MS) reports.remove(report);
    const isDue = isDeaf || clock.now() - wholeAt >= WHOLE_MS || clock.now() < wholeAt;
    if (isDue) wholeAt = clock.now();
    for (const persona of new Set([...sessions.keys(), ...shown.keys()])) {
      const mark = formatMark(sessions.get(persona) ?? []);
      if (!isDue && marks.get(persona) === mark) continue;
      marks.set(persona, mark);
      show(persona);
    }
  }

  /** Formats everything that a sweep can find changed. */
  function formatMark(own: readonly KnownSession[]): string {
    return own
      .map((session) => {
        const { report, announced } = session;
        const runner = findRunner(session);
        const life = runner === null ? null : lives.get(toRunnerKey(runner))?.is;
        return `${life} ${announced?.announcedAt} ${announced?.endedAt} ${report?.is} ${report?.since} ${report?.waits.length} ${report?.waits[0]?.since}`;
      })
      .join();
  }

  const sweeps = every({ name: 'reports of hooks', ms: SWEEP_MS, round: sweep, clock });

  function hearReports(names: ReadonlySet<string>): void {
    const changed = reports.refresh(names);
    const isKnown = ({ session, persona, runner }: SessionReport): boolean => {
      const known = byId.get(session);
      if (known?.report == null || toRunnerKey(known.report.runner) !== toRunnerKey(runner)) return false;
      return known.report.persona === persona;
    };
    if (!changed.every(isKnown)) {
      sweeps.wake();
      // Whoever has no persona yet is announced next.
      if (changed.some(({ persona }) => persona === null)) clock.after(ANNOUNCED_MS, sweeps.wake);
      return;
    }
    for (const report of changed) {
      const session = byId.get(report.session);
      if (session === undefined) continue;
      session.report = report;
      show(session.persona);
    }
  }

  return {
    name: sweeps.name,
    async run(signal) {
      shown.clear(); // the service runs again after a failure
      wholeAt = 0;
      isDeaf = false;
      using _watcher = watchSessionReports(dirs.run, {
        clock,
        reported: hearReports,
        noted: (stems) => {
          for (const stem of stems) {
            const persona = byStem.get(stem);
            if (persona !== undefined) show(persona);
          }
        },
        failed: (why) => {
          isDeaf = true;
          log.warn(`what agents do is seen every ${SWEEP_MS / 1000} s: ${dirs.run} cannot be watched: ${why}`);
        },
      });
      await sweeps.run(signal);
    },
  };
}

function findRunner({ report, announced }: KnownSession): SessionProcess | null {
  return report?.runner ?? announced?.runner ?? null;
}

function toRunnerKey({ pid, startKey, lock }: SessionProcess): string {
  return JSON.stringify([pid, startKey, lock ?? null]);
}

/** It said so itself. */
function isEnded({ report, announced }: KnownSession): boolean {
  return report === null ? announced?.endedAt !== null : report.is === 'gone';
}
