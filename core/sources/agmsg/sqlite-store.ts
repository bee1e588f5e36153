import { Fault } from '../../model/index.ts';
import { type PeekedDatabase, peekSqlite, readDatabaseStamp, toPeekFault } from '../../state/index.ts';
import { NO_EPOCH } from '../source-tools.ts';
import {
  type AgmsgMessage,
  type AgmsgStore,
  LEGACY,
  listMessages,
  NO_MESSAGES,
  SCOPE,
  type StoreOptions,
  toBodyChars,
  toLegacyKey,
  toMember,
  toMessage,
} from './store.ts';

/** The tables of agmsg with their columns (agmsg contract 1). */
const TABLES: Readonly<Record<string, readonly string[]>> = {
  events: ['seq', 'type', 'id', 'team', 'from_agent', 'to_agent', 'body', 'msg_id', 'agent', 'at', 'legacy_id'],
  read_cursors: ['team', 'agent', 'local_position'],
  messages: ['id', 'team', 'from_agent', 'to_agent', 'body', 'created_at', 'read_at'],
};
/** Came later than its table. */
const LATER_COLUMNS: ReadonlySet<string> = new Set(['legacy_id']);
/** A file may be written again within this time without another time of change. */
const COARSE_MS = 20;

/** Which tables and columns a store has. */
interface Form {
  readonly hasEvents: boolean;
  readonly hasCursors: boolean;
  readonly hasMessages: boolean;
  readonly hasLegacyIds: boolean;
}

/** What the whole store looked like, so that only agents for whom something changed are read. */
interface StoreOverview {
  readonly seq: number;
  readonly cursors: ReadonlyMap<string, number>;
  /** Of the older rows that are unread: how many there are, and the newest, as a text per agent. */
  readonly rows: ReadonlyMap<string, string>;
}

interface StoreReading {
  readonly overview: StoreOverview;
  readonly changed: ReadonlyMap<string, readonly AgmsgMessage[]>;
}

const EMPTY: StoreOverview = { seq: 0, cursors: new Map(), rows: new Map() };

export function createSqliteStore(options: StoreOptions): AgmsgStore {
  const { path, clock, contentChars } = options;
  const { signal } = new AbortController(); // a reading ends by itself within its busy time
  const members = new Map<string, readonly AgmsgMessage[]>();
  /** Of each agent the place up to which what came was handled; the same for all at first. */
  const released = new Map<string, number>();
  let startSeq: number | null = null;
  let overview = EMPTY;
  let epoch = NO_EPOCH;
  let lastStamp: { readonly stamp: string; readonly at: number } | null = null;

  const isUnchanged = (): boolean =>
    lastStamp !== null && clock.monotonic() - lastStamp.at >= COARSE_MS && readDatabaseStamp(path) === lastStamp.stamp;

  /** What came before the store was opened is listed while it is unread, and what came later until it is released. */
  const findBase = (member: string): number => released.get(member) ?? startSeq ?? 0;

  async function refresh(): Promise<void> {
    if (isUnchanged()) return;
    const at = clock.monotonic();
    const base = overview;
    let peek = await peekSqlite(path, (db) => readChanges(db, base), { clock, signal });
    if (peek.is === 'read' && epoch !== NO_EPOCH && peek.identity !== epoch) {
      members.clear(); // another file
      peek = await peekSqlite(path, (db) => readChanges(db, EMPTY), { clock, signal });
    }
    if (peek.is === 'absent') {
      startSeq ??= 0;
      members.clear();
      [overview, epoch, lastStamp] = [EMPTY, NO_EPOCH, null];
      return;
    }
    if (peek.is !== 'read') throw toPeekFault(peek, path, SCOPE);
    startSeq ??= peek.value.overview.seq;
    overview = peek.value.overview;
    [epoch, lastStamp] = [peek.identity, { stamp: peek.stamp, at }];
    for (const [member, all] of peek.value.changed) {
      const listed = listMessages(all, findBase(member), members.get(member));
      if (listed.length === 0) members.delete(member);
      else members.set(member, listed);
    }
  }

  function readChanges(db: PeekedDatabase, base: StoreOverview): StoreReading {
    const form = readForm(db);
    const now = readOverview(db, form);
    const changed = new Set<string>();
    const isContinued = base !== EMPTY && now.seq >= base.seq;
    const since = isContinued ? base.seq : 0;
    if (form.hasEvents && now.seq > since)
      for (const { team, agent } of db.all<MemberRow>(SINCE, since)) changed.add(toMember(String(team), String(agent)));
    compare(base.cursors, now.cursors, changed);
    compare(base.rows, now.rows, changed);
    return {
      overview: now,
      changed: new Map([...changed].map((member) => [member, readMember(db, form, now, member)])),
    };
  }

  function readMember(
    db: PeekedDatabase,
    form: Form,
    { cursors, seq }: StoreOverview,
    member: string,
  ): readonly AgmsgMessage[] {
    const [team = '', agent = ''] = member.split('\0');
    const cursor = cursors.get(member) ?? 0;
    const chars = toBodyChars(contentChars);
    const rows: AgmsgMessage[] = [];
    if (form.hasMessages) {
      const sql = form.hasEvents ? (form.hasLegacyIds ? OLD_ROWS : OLD_ROWS_UNMIRRORED) : OLDEST_ROWS;
      const parameters = form.hasEvents ? [chars, team, agent, agent] : [chars, team, agent];
      for (const row of db.all<OldRow>(sql, ...parameters))
        rows.push(toMessage({ ...row, id: toLegacyKey(row.id), seq: 0, legacyId: null, isRead: false }, contentChars));
    }
    if (!form.hasEvents) return rows;
    const lowest = Math.min(cursor, released.get(member) ?? startSeq ?? seq);
    const sql = form.hasLegacyIds ? SENT : SENT.replace('legacy_id', 'NULL');
    const sent = db.all<SentRow>(sql, chars, cursor, team, agent, Math.max(0, lowest));
    return [...rows, ...sent.map((row) => toMessage({ ...row, isRead: row.isRead !== 0 }, contentChars))];
  }

  return {
    refresh,
    isUnchanged,
    get epoch() {
      return epoch;
    },
    list: (team, agent) => members.get(toMember(team, agent)) ?? NO_MESSAGES,
    async findExisting(team, agent, keys) {
      const old = keys.flatMap((key) => (key.startsWith(LEGACY) ? [key.slice(LEGACY.length)] : []));
      const read = (db: PeekedDatabase): ReadonlySet<string> => {
        const form = readForm(db);
        const found = new Set<string>();
        if (form.hasEvents)
          for (const { id } of db.all<{ id: string }>(EXISTING, team, agent, JSON.stringify(keys)))
            found.add(String(id));
        if (form.hasMessages && old.length > 0)
          for (const { id } of db.all<{ id: number }>(EXISTING_ROWS, team, agent, JSON.stringify(old.map(Number))))
            found.add(toLegacyKey(id));
        return found;
      };
      const peek = await peekSqlite(path, read, { clock, signal });
      if (peek.is === 'read') return peek.value;
      if (peek.is === 'absent') return new Set();
      throw toPeekFault(peek, path, SCOPE);
    },
    release(team, agent, seq) {
      const member = toMember(team, agent);
      if (seq <= findBase(member)) return;
      released.set(member, seq);
      const listed = listMessages(members.get(member) ?? NO_MESSAGES, seq, members.get(member));
      if (listed.length === 0) members.delete(member);
      else members.set(member, listed);
    },
  };
}

function compare<T>(before: ReadonlyMap<string, T>, now: ReadonlyMap<string, T>, changed: Set<string>): void {
  for (const [member, value] of now) if (before.get(member) !== value) changed.add(member);
  for (const member of before.keys()) if (!now.has(member)) changed.add(member);
}

/** @throws Fault `schema` for a store that this code does not know */
function readForm(db: PeekedDatabase): Form {
  const found = Map.groupBy(db.all<{ name: string; column: string }>(COLUMNS), ({ name }) => name);
  if (found.size === 0) throw createSchemaFault('it has no table of agmsg');
  for (const [table, columns] of found) {
    const known = TABLES[table] ?? [];
    const names = columns.map(({ column }) => column);
    const missing = known.filter((column) => !names.includes(column) && !LATER_COLUMNS.has(column));
    const unknown = names.filter((column) => !known.includes(column));
    if (missing.length > 0) throw createSchemaFault(`the table ${table} lacks ${missing.join(', ')}`);
    if (unknown.length > 0) throw createSchemaFault(`the table ${table} has the unknown column ${unknown[0]}`);
  }
  const hasEvents = found.has('events');
  if (!hasEvents && !found.has('messages')) throw createSchemaFault('it has neither events nor messages');
  return {
    hasEvents,
    hasCursors: found.has('read_cursors'),
    hasMessages: found.has('messages'),
    hasLegacyIds: found.get('events')?.some(({ column }) => column === 'legacy_id') ?? false,
  };
}

function createSchemaFault(found: string): Fault {
  return new Fault('schema', `the store of agmsg has another form: ${found}`, SCOPE);
}

function readOverview(db: PeekedDatabase, { hasEvents, hasCursors, hasMessages }: Form): StoreOverview {
  const cursors = hasCursors ? db.all<MemberRow & { n: number }>(CURSORS) : [];
  const rows = hasMessages ? db.all<MemberRow & { n: number; newest: number }>(UNREAD_ROWS) : [];
  return {
    seq: hasEvents ? (db.get<{ n: number | null }>(NEWEST)?.n ?? 0) : 0,
    cursors: new Map(cursors.map(({ team, agent, n }) => [toMember(String(team), String(agent)), n])),
    rows: new Map(rows.map(({ team, agent, n, newest }) => [toMember(String(team), String(agent)), `${n} ${newest}`])),
  };
}

interface MemberRow {
  readonly team: unknown;
  readonly agent: unknown;
}

interface OldRow {
  readonly id: unknown;
  readonly from: unknown;
  readonly body: unknown;
  readonly at: unknown;
}

interface SentRow extends OldRow {
  readonly seq: number;
  readonly legacyId: unknown;
  readonly isRead: number;
}

const COLUMNS = `SELECT m.name AS name, c.name AS "column" FROM sqlite_master m, pragma_table_info(m.name) c
  WHERE m.type = 'table' AND m.name IN ('events', 'read_cursors', 'messages')`;
const NEWEST = 'SELECT max(seq) AS n FROM events';
const SINCE = `SELECT DISTINCT team, CASE type WHEN 'message_sent' THEN to_agent ELSE agent END AS agent FROM events
  WHERE seq > ? AND type IN ('message_sent', 'message_read')`;
const CURSORS = 'SELECT team, agent, local_position AS n FROM read_cursors';
const UNREAD_ROWS = `SELECT team, to_agent AS agent, count(*) AS n, max(id) AS newest FROM messages WHERE read_at IS NULL
  GROUP BY team, to_agent`;
/** A message is read when the cursor passed it or a marker names it. A row with a negative place is a projection and never listed. */
const SENT = `SELECT e.id AS id, e.seq AS seq, e.from_agent AS "from", substr(e.body, 1, ?) AS body, e.at AS at, legacy_id AS legacyId,
    (e.seq <= ? OR EXISTS (SELECT 1 FROM events r WHERE r.type = 'message_read' AND r.team = e.team AND r.agent = e.to_agent
      AND r.msg_id = e.id)) AS isRead
  FROM events e WHERE e.type = 'message_sent' AND e.team = ? AND e.to_agent = ? AND e.seq > ? ORDER BY e.seq`;
const OLDEST_ROWS = `SELECT m.id AS id, m.from_agent AS "from", substr(m.body, 1, ?) AS body, m.created_at AS at FROM messages m
  WHERE m.team = ? AND m.to_agent = ? AND m.read_at IS NULL ORDER BY m.id`;
const OLD_ROWS_UNMIRRORED = OLDEST_ROWS.replace(
  ' ORDER BY',
  ` AND NOT EXISTS (SELECT 1 FROM events r WHERE r.type = 'message_read' AND r.team = m.team AND r.agent = ?
    AND r.msg_id = CAST(m.id AS TEXT)) ORDER BY`,
);
const OLD_ROWS = OLD_ROWS_UNMIRRORED.replace(
  ' ORDER BY',
  ' AND NOT EXISTS (SELECT 1 FROM events e WHERE e.legacy_id = m.id AND e.seq > 0) ORDER BY',
);
const EXISTING = `SELECT e.id AS id FROM events e WHERE e.type = 'message_sent' AND e.team = ? AND e.to_agent = ? AND e.seq > 0
  AND e.id IN (SELECT value FROM json_each(?))`;
const EXISTING_ROWS =
  'SELECT id FROM messages WHERE team = ? AND to_agent = ? AND id IN (SELECT value FROM json_each(?))';
