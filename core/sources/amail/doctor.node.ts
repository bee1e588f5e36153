import { lstatSync } from 'node:fs';
import { addCounts, type Count, FAULTS, type FaultCode, toFault } from '../../model/index.ts';
import { silentLog } from '../../ports/index.ts';
import { createRealDisk, type PeekedDatabase, peekSqlite } from '../../state/index.ts';
import { type CheckContext, type Finding, fail, ok, skipped, warn } from '../module.ts';
import { isListening } from './listening.node.ts';
import { createCredentials, openServer, resolvePlaces } from './open.ts';
import type { MailServer } from './server.ts';
import { listMailProcesses, type MailProcess } from './servers.node.ts';
import { AMAIL, type AmailSettings } from './settings.ts';
import { createAmailSource } from './source.ts';

/** Asks the server as the watcher does. While it is down, its database is read. */
export async function checkAmail(
  { amail }: AmailSettings,
  context: CheckContext,
  signal: AbortSignal,
): Promise<Finding> {
  if (amail.is === 'off') return skipped('switched off in the settings');
  const host = { ...context, disk: createRealDisk(silentLog), log: silentLog };
  const places = resolvePlaces(amail, host);
  const { base, store, database } = places;
  const processes = listMailProcesses(store, database) ?? [];
  const common = {
    base,
    store,
    isNamed: amail.base !== undefined,
    listeners: processes.filter(({ listens }) => listens),
  };
  if (await isListening(new URL(base), signal)) {
    const server = openServer(amail, places, null, host, createCredentials(amail, host));
    return judgeAmail({ ...common, seen: await probeServer(server, base, common.isNamed, context, signal) });
  }
  return judgeAmail({ ...common, seen: await probeStore(database, processes, context, signal) });
}

async function probeServer(
  server: MailServer,
  base: string,
  isNamed: boolean,
  { clock }: CheckContext,
  signal: AbortSignal,
): Promise<AmailProbe['seen']> {
  await using source = createAmailSource({ server, base, clock, memory: { load: () => null, save: () => {} } });
  try {
    if (!isNamed && !(await server.isAlive(signal))) return { is: 'another program' };
    const personas = await source.personas(signal);
    const counts = await source.pending?.once(signal);
    const unread = addCounts([...(counts?.byAddress.values() ?? [])].map((count) => count.unread));
    return { is: 'server', agents: personas.length, unread };
  } catch (error) {
    const { code, message } = toFault(error, { is: 'source', key: AMAIL });
    return { is: 'fault', code, message };
  }
}

/**
 * Reads the database of a server that is down, without locks. While any process has it open, or mail waits in its `-wal`, it is left
 * alone (agent-mail contract 2).
 */
export async function probeStore(
  database: string,
  processes: readonly MailProcess[],
  { clock }: Pick<CheckContext, 'clock'>,
  signal: AbortSignal,
): Promise<AmailProbe['seen']> {
  const [holder] = processes;
  if (holder !== undefined) return { is: 'store in use', pid: holder.pid };
  if ((lstatSync(`${database}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0)
    return { is: 'store unclosed', database };
  const peek = await peekSqlite(database, countStore, { clock, signal });
  if (peek.is === 'read') return { is: 'store', database, ...peek.value };
  return peek.is === 'absent' ? { is: 'nothing' } : { is: 'store unreadable', database, why: peek.why };
}

interface StoreCounts {
  readonly kind: 'Rust' | 'Python';
  readonly agents: number;
  readonly unread: number;
}

/** Counts what both kinds of server store alike. Only the Rust server has delivery events. */
function countStore(db: PeekedDatabase): StoreCounts {
  const isRust =
    db.get("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'inbox_delivery_events'") !== undefined;
  const count = (sql: string): number => db.get<{ n: number }>(sql)?.n ?? 0;
  return {
    kind: isRust ? 'Rust' : 'Python',
    agents: count(
      isRust
        ? 'SELECT count(*) AS n FROM agents'
        : `SELECT count(*) AS n FROM agents JOIN projects ON projects.id = project_id
           WHERE retired_at IS NULL AND archived_at IS NULL`,
    ),
    unread: count('SELECT count(*) AS n FROM message_recipients WHERE read_ts IS NULL'),
  };
}

export interface AmailProbe {
  readonly base: string;
  readonly store: string;
  /** The settings name the server. */
  readonly isNamed: boolean;
  /** Processes that listen and work on the store. */
  readonly listeners: readonly MailProcess[];
  readonly seen:
    | { readonly is: 'nothing' | 'another program' }
    | { readonly is: 'server'; readonly agents: number; readonly unread: Count }
    | { readonly is: 'fault'; readonly code: FaultCode; readonly message: string }
    | ({ readonly is: 'store'; readonly database: string } & StoreCounts)
    | { readonly is: 'store in use'; readonly pid: number }
    | { readonly is: 'store unclosed'; readonly database: string }
    | { readonly is: 'store unreadable'; readonly database: string; readonly why: string };
}

export function judgeAmail({ base, store, isNamed, listeners, seen }: AmailProbe): Finding {
  const [first, second] = listeners;
  if (first !== undefined && second !== undefined)
    return warn(
      `${listeners.length} servers work on ${store}: processes ${listeners.map(({ pid }) => pid).join(', ')}`,
      `end all but one of them: two servers on one store damage it`,
    );
  const down = (about: string): Finding =>
    isNamed
      ? fail(`nothing listens at ${base}; ${about}`, 'start the server: am serve-http')
      : skipped(`nothing listens at ${base}; ${about}`);
  switch (seen.is) {
    case 'server': {
      const { agents, unread } = seen;
      const number = unread.is === 'unknown' ? 'unknown' : `${unread.n}${unread.is === 'atLeast' ? '+' : ''}`;
      return ok(`${base}: ${agents} agent${agents === 1 ? '' : 's'}, ${number} unread`);
    }
    case 'fault':
      return fail(seen.message, FAULTS[seen.code].next);
    case 'another program':
      return skipped(`another program listens at ${base}`);
    case 'nothing':
      return down('there is no store');
    case 'store':
      return down(`${seen.database} of the ${seen.kind} server holds ${seen.unread} unread for ${seen.agents} agents`);
    case 'store in use':
      return down(`process ${seen.pid} has the store open, so it is not read`);
    case 'store unclosed':
      return down(`${seen.database} was not closed, so only its server can read it`);
    case 'store unreadable':
      return warn(`${seen.database} cannot be read: ${seen.why}`, 'let its server repair it: am doctor');
  }
}
