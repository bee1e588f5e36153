import type { Io } from '../../../core/command/index.ts';
import { type Items, openItems } from '../../../core/inbox/index.ts';
import { type Instant, LOCAL_PREFIX } from '../../../core/model/index.ts';
import { realClock } from '../../../core/ports/index.ts';
import { createRealDisk, type Database, findOwnDirs, ringWaiters, toWaitersDir } from '../../../core/state/index.ts';
import { hasRunningDaemon, isFollowed, isPrompted, listPersonaForms, openNudgeClaims } from '../../hook/index.ts';
import { findMcpCaller, type McpCaller } from './caller.ts';
import { formatDoorbell } from './mail-text.ts';
import { createMcpLog, isForSession } from './tool-call.ts';

interface ChannelRing {
  readonly persona: string;
  readonly count: number;
  readonly text: string;
}

const MOST_RUNG = 100;
/** Another way is surer, so it goes first. */
const YIELDS_MS = 2000;
/** How soon to check again while the agent works, or while another way may wake it, in milliseconds. */
const AGAIN_MS = 10_000;

/**
 * Rings over the channel of Claude Code when something new waits for the agent, and no other way rings for it. A ring is stored as a
 * nudge that may be lost, see `decideNudge`. Where no hook ever ran, nothing else can wake the agent, and each new item is rung for.
 *
 * @returns a function that checks the store, and returns the milliseconds until the next check. Null: not before the store changes.
 */
export function createChannelBell(io: Io, ring: (ring: ChannelRing) => void): (db: Database) => number | null {
  const { state, run, config } = findOwnDirs({ ...io.env });
  const disk = createRealDisk(createMcpLog(io));
  let rung: ReadonlySet<number> = new Set();
  let noticed: { readonly newest: number; readonly at: Instant } = { newest: 0, at: 0 };

  return function check(db) {
    const caller = tryFindCaller(io, db);
    if (caller === null) return null;
    const items = openItems({ db, clock: realClock });
    const waiting = items.list(caller.name, 'pending', MOST_RUNG).filter((item) => isForSession(item, caller));
    const ids = waiting.map(({ id }) => id);
    const newest = Math.max(0, ...ids.filter((id) => !rung.has(id)));
    if (newest > noticed.newest) noticed = { newest, at: realClock.now() };
    const isDue = newest === 0 ? null : decideRing(db, items, caller);
    rung = new Set(isDue === true ? ids : ids.filter((id) => rung.has(id)));
    if (isDue !== true) return isDue;
    ring({ persona: caller.name, count: waiting.length, text: formatDoorbell(waiting) });
    return null;
  };

  /** Returns true to ring, or when to ask again. */
  function decideRing(db: Database, items: Items, { name, session, isFollowed: isElsewhere }: McpCaller) {
    const persona = isElsewhere ? name : `${LOCAL_PREFIX}${name}`;
    const forms = listPersonaForms(persona, config);
    if (forms.some((form) => isFollowed(disk, state, form))) return null;
    if (hasRunningDaemon({ disk, env: io.env, state }, persona, name)) return null;
    const claims = openNudgeClaims({ db, items, dirs: { state, run, config }, clock: realClock });
    const { nudge } = claims.decide(persona, session, 'channel');
    if (nudge.is === 'later') return nudge.ms;
    if (nudge.is === 'none' && nudge.why === 'unknown') return true;
    if (nudge.is === 'none') return nudge.why === 'working' ? AGAIN_MS : null;
    const sessions = session === null ? [] : [session];
    if (forms.some((form) => isPrompted(run, form, sessions))) return AGAIN_MS;
    if (ringWaiters(toWaitersDir(db.path), forms).length > 0) return AGAIN_MS;
    const yieldsMs = noticed.at + YIELDS_MS - realClock.now();
    if (yieldsMs > 0) return yieldsMs;
    return claims.claim(persona, session, 'channel').nudge.is === 'nudge' ? true : null;
  }
}

/** Null when nobody has announced a session yet: a server often starts before the first hook. */
function tryFindCaller(io: Io, db: Database): McpCaller | null {
  try {
    return findMcpCaller(io, db, null);
  } catch {
    return null; // the next change asks again
  }
}
