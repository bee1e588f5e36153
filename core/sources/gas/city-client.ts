import { type AgentState, Fault, type Instant, parseJson, parseTimestamp, type Scope } from '../../model/index.ts';
import type { HttpClient, HttpResponse } from '../../net/index.ts';
import type { StoreDefect } from '../source-tools.ts';
import { type GasMessage, isAddress, isRecord, parseCityMail } from './message.ts';

/** The client of a supervisor. Whoever watches uses `get` alone. */
export type CityFetcher = Pick<HttpClient, 'get' | 'post' | 'reset'> & AsyncDisposable;

export interface City {
  readonly name: string;
  /** Where the city is on its machine. */
  readonly path: string;
  readonly isRunning: boolean;
}

/** The mail of a whole city, or of one of its inboxes. */
export interface CityMail {
  readonly messages: readonly GasMessage[];
  readonly defects: readonly StoreDefect[];
  /** The number of the newest event of the city; null when it keeps none. */
  readonly index: number | null;
}

/** A session of an agent, by the name that its mail is addressed to. */
export interface CitySession {
  readonly address: string;
  readonly id: string;
  readonly state: AgentState;
}

const PAGE = 1000;
/** So many pages are read of one list. */
const MOST_PAGES = 50;
/** How long the server holds a request, in seconds. */
const HOLD_S = 60;
/** A held request may end later by a sixteenth of it; the rest is for a slow machine. */
const HOLD_DEADLINE_MS = (HOLD_S + HOLD_S / 16 + 10) * 1000;

/**
 * Lists the cities of a supervisor.
 * @throws Fault; `shape` when another program answers
 */
export async function listCities(
  fetcher: Pick<CityFetcher, 'get'>,
  address: string,
  scope: Scope,
  signal: AbortSignal,
): Promise<readonly City[]> {
  const { items } = await fetchList(fetcher, '/v0/cities', address, scope, signal);
  return items.flatMap((item): readonly City[] => {
    if (!isRecord(item) || !isCityName(item.name)) return [];
    return [
      { name: item.name, path: typeof item.path === 'string' ? item.path : '', isRunning: item.running === true },
    ];
  });
}

/** The name of a city is part of ids and of paths. */
const isCityName = (value: unknown): value is string =>
  typeof value === 'string' && /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/.test(value);

/** The requests about one city. All are GET, and none marks anything (Gas City contract 2). */
export interface CityClient {
  /** @throws Fault */
  list(status: 'unread' | 'all', agent: string | null, signal: AbortSignal): Promise<CityMail>;
  /** The unread mail, as soon as the city has an event after `index`, or after a minute. @throws Fault */
  hold(index: number, signal: AbortSignal): Promise<CityMail>;
  /** How many messages are unread, as the city counts them. @throws Fault */
  countUnread(signal: AbortSignal): Promise<number>;
  /** @throws Fault */
  sessions(signal: AbortSignal): Promise<readonly CitySession[]>;
}

export function createCityClient(
  fetcher: Pick<CityFetcher, 'get'>,
  address: string,
  city: string,
  scope: Scope,
): CityClient {
  const base = `/v0/city/${encodeURIComponent(city)}`;
  const fetchPage = (path: string, signal: AbortSignal, deadlineMs?: number): Promise<ListPage> =>
    fetchList(fetcher, base + path, address, scope, signal, deadlineMs);

  async function readPages(first: ListPage, path: string, signal: AbortSignal): Promise<readonly unknown[]> {
    const items = [...first.items];
    let { next } = first;
    for (let pages = 1; next !== null && pages < MOST_PAGES; pages += 1) {
      const page = await fetchPage(`${path}&cursor=${encodeURIComponent(next)}`, signal);
      items.push(...page.items);
      next = page.next;
    }
    return items;
  }

  async function readMail(path: string, held: string, signal: AbortSignal): Promise<CityMail> {
    let first: ListPage;
    try {
      first = await fetchPage(path + held, signal, held === '' ? undefined : HOLD_DEADLINE_MS);
    } catch (error) {
      throw await nameRig(error, signal);
    }
    return { ...parseCityMail(await readPages(first, path, signal)), index: first.index };
  }

  /** A city fails when one of its rigs does, and only the rigs themselves say which. */
  async function nameRig(error: unknown, signal: AbortSignal): Promise<unknown> {
    if (!(error instanceof Fault) || error.code !== 'status' || error.message.includes('rig ')) return error;
    try {
      const { items } = await fetchPage('/rigs', signal);
      const names = items.flatMap((item) => (isRecord(item) && isAddress(item.name) ? [item.name] : []));
      for (const name of names.slice(0, MOST_PAGES)) {
        try {
          await fetcher.get(`${base}/mail/count?rig=${encodeURIComponent(name)}`, signal);
        } catch (cause) {
          if (cause instanceof Fault && cause.code === 'status')
            return new Fault('status', `the rig ${name} of the city ${city}: ${cause.message}`, scope, { cause });
        }
      }
    } catch {
      // Nothing says which rig it is.
    }
    return error;
  }

  return {
    list(status, agent, signal) {
      const filter = agent === null ? '' : `&agent=${encodeURIComponent(agent)}`;
      return readMail(`/mail?status=${status}&limit=${PAGE}${filter}`, '', signal);
    },
    hold: (index, signal) => readMail(`/mail?status=unread&limit=${PAGE}`, `&index=${index}&wait=${HOLD_S}s`, signal),
    async countUnread(signal) {
      const path = `${base}/mail/count`;
      const { unread } = parseObject(await fetcher.get(path, signal), address + path, scope);
      if (typeof unread === 'number' && Number.isSafeInteger(unread) && unread >= 0) return unread;
      throw new Fault('shape', `${address}${path}: "unread" is not a count`, scope);
    },
    async sessions(signal) {
      const path = `/sessions?limit=${PAGE}`;
      const items = await readPages(await fetchPage(path, signal), path, signal);
      return items.flatMap((item) => (isRecord(item) ? (parseSession(item) ?? []) : []));
    },
  };
}

interface ListPage {
  readonly items: readonly unknown[];
  readonly next: string | null;
  readonly index: number | null;
}

async function fetchList(
  fetcher: Pick<CityFetcher, 'get'>,
  path: string,
  address: string,
  scope: Scope,
  signal: AbortSignal,
  deadlineMs?: number,
): Promise<ListPage> {
  const answer = await fetcher.get(path, signal, deadlineMs === undefined ? {} : { deadlineMs });
  const where = address + path.replace(/\?.*/, '');
  const { items, next_cursor: next, partial, partial_errors: errors } = parseObject(answer, where, scope);
  if (!Array.isArray(items)) throw new Fault('shape', `${where}: "items" is not a list`, scope);
  // A list without a part of the mail would say that this part is gone.
  if (partial === true) throw new Fault('status', `${where}: it is incomplete: ${formatErrors(errors)}`, scope);
  const index = Number(answer.headers['x-gc-index'] ?? Number.NaN);
  return {
    items,
    next: typeof next === 'string' && next !== '' ? next : null,
    index: Number.isSafeInteger(index) && index >= 0 ? index : null,
  };
}

function formatErrors(errors: unknown): string {
  const texts = Array.isArray(errors) ? errors.filter((error) => typeof error === 'string') : [];
  return texts.length === 0
    ? 'it does not say why'
    : texts
        .map((text) => `rig ${text}`)
        .join('; ')
        .slice(0, 300);
}

function parseObject(
  { body }: Pick<HttpResponse, 'body'>,
  where: string,
  scope: Scope,
): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = parseJson(body.toString('utf8'));
  } catch (error) {
    const problem = error instanceof SyntaxError ? error.message : String(error);
    throw new Fault('not-json', `${where}: the answer is not JSON: ${problem.slice(0, 200)}`, scope, { cause: error });
  }
  if (!isRecord(value)) throw new Fault('shape', `${where}: the answer is not an object`, scope);
  return value;
}

/** What the supervisor calls the states of a session, and what they mean. */
const STATES: Readonly<Record<string, AgentState['is']>> = {
  active: 'live',
  awake: 'live',
  creating: 'live',
  draining: 'live',
  asleep: 'idle',
  idle: 'idle',
  suspended: 'idle',
  drained: 'idle',
};

/** Null for a session that is over, or that has no name. */
function parseSession(item: Readonly<Record<string, unknown>>): CitySession | null {
  const { alias, name, session_name: sessionName, template, id, state } = item;
  const address = [alias, name, sessionName, template, id].find(isAddress);
  if (address === undefined || state === 'closed') return null;
  const since = typeof item.last_active === 'string' ? parseTimestamp(item.last_active) : null;
  return {
    address,
    id: typeof id === 'string' ? id : address,
    state: toAgentState(typeof state === 'string' ? state : '', since),
  };
}

function toAgentState(state: string, since: Instant | null): AgentState {
  const is = STATES[state];
  const details = since === null ? {} : { since };
  if (is === 'live' || is === 'idle') return { is, ...details };
  return { is: 'unknown', why: /^[a-z-]{1,30}$/.test(state) ? state : 'not-reported' };
}
