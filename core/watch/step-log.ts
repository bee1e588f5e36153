import { type Instant, type Reach, spanAround } from '../model/index.ts';
import type { LogEvidence, Look, Row } from '../sources/index.ts';
import { alarmsOf, observed } from './alarms.ts';
import { decide } from './arm.ts';
import { isOldNews, passAhead, restartLog } from './log-restart.ts';
import { mailEvent } from './mail.ts';
import { type Output, offering } from './offer.ts';
import { below } from './settle.ts';
import { AT_ONCE, cursorOf, isSuppressed, markAt, type Rules, type WatchState } from './state.ts';

/** A look at a log: what lies above the cursor is told, as far as it is in sight. */
export function lookedAtLog(before: WatchState, at: Instant, look: Look, evidence: LogEvidence, rules: Rules): Output {
  const reach: Reach = before.reach.is === 'up' ? before.reach : { is: 'up', since: at };
  const restarted = restartLog(before, look, evidence, rules);
  const armed =
    restarted ?? passAhead(before.arming === 'armed' ? before : decide(before, look, evidence, rules), evidence);
  // Nothing can be missing above a position that was decided just now: it was none, or what is above it was counted and passed.
  const isKept = before.mark.is === 'at' && armed.mark.is === 'at' && before.mark.id === armed.mark.id;
  const hole = isKept ? evidence.hole : undefined;
  const state = observed({ ...armed, reach, failures: 0 }, evidence);
  const [cursor, done] = state.mark.is === 'at' ? [state.mark.id, state.mark.done ?? []] : [0, []];
  // Asked for from the cursor of the log of before, a look at another one says nothing of what is in it.
  const above = restarted === null ? rowsAbove(evidence.rows, cursor) : [];
  const held = state.held.length === 0 ? NOTHING_HELD : new Set(state.held);
  const isDone = ({ id }: Row): boolean => held.has(id) || (done.length > 0 && spanAround(done, id) !== null);
  const rows: Row[] = [];
  let next: Row | null = null;
  for (const row of above) {
    if (isDone(row) || isSuppressed(row.from, rules) || isOldNews(state, row)) continue;
    if (rows.length === AT_ONCE) {
      next = row;
      break;
    }
    rows.push(row);
  }
  const last = Math.max(above.at(-1)?.id ?? cursor, done.at(-1)?.to ?? cursor);
  const to =
    next !== null
      ? { mark: below(state.mark, next.id, hole?.spans ?? null), forgot: 0 }
      : hole === undefined
        ? { mark: { is: 'at', id: last } as const, forgot: 0 }
        : markAt(cursor, [...done, ...hole.spans]);
  const edge = state.told === 'DOWN' ? 'UP' : null;
  const out = offering({ ...state, forgot: state.forgot + to.forgot }, at, rules, {
    mail: rows.map((row) => ({ event: mailEvent(row, rules, at, 'new', state.log.name), id: row.id, move: null })),
    mark: to.mark,
    spans: hole?.spans ?? null,
    closes: hole === undefined && next === null,
    more: next !== null,
    alarms: alarmsOf(state, evidence, hole, rules, cursor, above),
    hive: null,
    facts: [],
    save: true,
    saveFirst:
      restarted !== null || before.arming === 'baseline' || before.arming === 'born' || before.arming === 'corrupt',
    edge,
    notices: state.notices,
  });
  const { unread, urgent, vital } = look;
  // What is only offered is not handed over yet: the board hears of that when it is told.
  const handed = cursorOf(out.state.mark);
  const persona = rules.persona ?? '_';
  const isBelow = evidence.max < cursor && unread.is !== 'unknown' && unread.n > 0;
  const ends = isBelow ? { endsBelow: evidence.max } : {};
  return { ...out, facts: [{ is: 'looked', at, persona, reach, unread, urgent, vital, cursor: handed, ...ends }] };
}

/** Rows ascend: those that are told already, part by part, are not gone through again with each further part. */
function rowsAbove(rows: readonly Row[], cursor: number): readonly Row[] {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((rows[middle]?.id ?? 0) > cursor) high = middle;
    else low = middle + 1;
  }
  return low === 0 ? rows : rows.slice(low);
}

const NOTHING_HELD: ReadonlySet<number> = new Set();
