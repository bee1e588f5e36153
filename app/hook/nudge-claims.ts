import { join } from 'node:path';
import {
  decideNudge,
  formatNudge,
  type Nudge,
  type NudgeFacts,
  type NudgeRecord,
  type NudgeVia,
} from '../../core/hooks/index.ts';
import type { Items } from '../../core/inbox/index.ts';
import { formatInboxDrainCommand } from '../../core/link/index.ts';
import type { PersonaId } from '../../core/model/index.ts';
import type { Clock } from '../../core/ports/index.ts';
import {
  type Database,
  type Dirs,
  type Disk,
  getErrno,
  isLocked,
  migrate,
  runLaterTransaction,
  toStem,
} from '../../core/state/index.ts';
import { listPersonaForms } from './ended-sessions.ts';
import { readActivity } from './prompts.node.ts';
import { locateInbox } from './stamps.node.ts';

const STEPS = [
  'CREATE TABLE nudges (persona TEXT PRIMARY KEY, waiting INTEGER NOT NULL, at REAL NOT NULL) STRICT, WITHOUT ROWID',
  "ALTER TABLE nudges ADD COLUMN via TEXT NOT NULL DEFAULT 'other'",
] as const;
/** Among this many of the newest items is one that this session may get. */
const NEWEST = 100;

/** What was decided for one persona at one moment. */
export interface NudgeDecision {
  readonly nudge: Nudge;
  /** What it was decided with. */
  readonly facts: NudgeFacts;
}

export interface NudgeClaimsNeeds {
  readonly db: Database;
  readonly items: Pick<Items, 'pending' | 'list' | 'shownAt'>;
  readonly dirs: Dirs;
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * Knows for what each persona was nudged, in whichever way and by whichever process: no two of them nudge for one thing. It is
 * stored in the database, because a waiter asks in a process of its own.
 */
export interface NudgeClaims {
  /** Decides without a change. @param session also counts the items for only that session; null: for any session */
  decide(persona: PersonaId, session: string | null, via?: NudgeVia): NudgeDecision;
  /**
   * Decides, and stores the nudge when it is due. Of several processes only one gets `nudge`. Waits until whoever writes to the
   * database has committed.
   */
  claim(persona: PersonaId, session: string | null, via?: NudgeVia): NudgeDecision;
  /** Takes a claim back, because nothing of the nudge could be seen. */
  release(persona: PersonaId, { facts }: NudgeDecision): void;
}

/** @throws Fault `database`; so does each of its methods. */
export function openNudgeClaims({ db, items, dirs, clock }: NudgeClaimsNeeds): NudgeClaims {
  migrate(db, 'nudges', STEPS);
  const select = db.prepare<NudgeRecord>('SELECT waiting, at, via FROM nudges WHERE persona = ?');
  const put = db.prepare(
    `INSERT INTO nudges (persona, waiting, at, via) VALUES (?, ?, ?, ?)
     ON CONFLICT (persona) DO UPDATE SET waiting = excluded.waiting, at = excluded.at, via = excluded.via`,
  );
  const drop = db.prepare('DELETE FROM nudges WHERE persona = ? AND at = ?');
  const toName = (persona: PersonaId): string => locateInbox(persona, dirs.config).name;
  const store = (name: string, { waiting, at, via }: NudgeRecord): void => void put.run(name, waiting, at, via);

  function decide(persona: PersonaId, session: string | null, via: NudgeVia = 'other'): NudgeDecision {
    const name = toName(persona);
    const activities = listPersonaForms(persona, dirs.config).map((form) => readActivity(dirs.run, form));
    const facts: NudgeFacts = {
      pending: items.pending(name, session),
      waiting: findNewestId(name, session),
      last: findNewest(activities),
      shownAt: items.shownAt(name),
      before: select.get(name) ?? null,
      via,
      now: clock.now(),
    };
    return { nudge: decideNudge(facts), facts };
  }

  function findNewestId(name: string, session: string | null): number {
    for (const limit of [1, NEWEST]) {
      const mayGet = items
        .list(name, 'pending', limit)
        .findLast((item) => item.session === null || item.session === session);
      if (mayGet !== undefined) return mayGet.id;
    }
    return 0;
  }

  return {
    decide,
    claim: (persona, session, via) =>
      runLaterTransaction(db, () => {
        const decision = decide(persona, session, via);
        const { waiting, now } = decision.facts;
        if (decision.nudge.is === 'nudge') store(toName(persona), { waiting, at: now, via: decision.facts.via });
        return decision;
      }),
    release(persona, { facts: { before, now } }) {
      const name = toName(persona);
      runLaterTransaction(db, () => {
        if (before === null) drop.run(name, now);
        else if (select.get(name)?.at === now) store(name, before);
      });
    },
  };
}

/** The agent notes its activity under the form of the id that its environment has. */
function findNewest<T extends { readonly at: number }>(activities: readonly (T | null)[]): T | null {
  return activities.filter((activity) => activity !== null).toSorted((a, b) => b.at - a.at)[0] ?? null;
}

/** Returns whether a `hivebar follow` of the persona runs, which delivers every event. */
export function isFollowed(disk: Disk, state: string, persona: PersonaId): boolean {
  const folder = join(state, 'follow', toStem(persona));
  try {
    const locks = disk.files.readdir(folder).filter((name) => name.endsWith('.lock'));
    return locks.some((name) => isLocked(disk, join(folder, name)));
  } catch (error) {
    if (getErrno(error) === 'ENOENT') return false;
    throw error;
  }
}

/**
 * Formats the sentence with which a turn begins. It holds nothing that anybody else wrote. The hook of that turn shows what waits,
 * where the harness runs it.
 */
export function formatWakeWords(pending: NudgeFacts['pending'], name: string, session: string): string {
  return `${formatNudge(pending)}. If it is not shown here, run: ${formatInboxDrainCommand(name, session)}`;
}
