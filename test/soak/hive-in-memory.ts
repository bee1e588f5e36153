import { exactly, Fault, type FaultCode } from '../../core/model/index.ts';
import type { Clock } from '../../core/ports/index.ts';
import type { HiveClient, Message, UnreadCounts } from '../../core/sources/index.ts';

/** Rows an inbox keeps: it must not grow with the time that is simulated. */
const STORED_MESSAGES = 20;
/** As the HTTP client has it. */
const DEADLINE_MS = 5000;

/** How the hive does. `hangs`: it takes questions and never answers. */
export type Weather = { readonly is: 'well' | 'hangs' } | { readonly is: 'refuses'; readonly code: FaultCode };

/** A hive on the clock of a test, without a network: it long-polls, refuses, hangs, and forgets connections. */
export interface HiveInMemory {
  readonly client: HiveClient;
  weather: Weather;
  deliver(persona: string): void;
  markAllRead(): void;
  /** Messages so far, by persona. */
  readonly delivered: ReadonlyMap<string, number>;
  /** How often its connections were dropped. */
  readonly resets: number;
  /** Questions that wait for an answer. */
  readonly asked: number;
}

interface Question {
  /** Its connection is dropped. */
  drop(): void;
  /** There is news. */
  wake(): void;
}

export function hiveInMemory(names: readonly string[], clock: Clock): HiveInMemory {
  const inboxes = new Map<string, Message[]>(names.map((name) => [name, []]));
  const delivered = new Map<string, number>(names.map((name) => [name, 0]));
  const questions = new Set<Question>();
  let weather: Weather = { is: 'well' };
  let lastId = 0;
  let version = 0;
  let resets = 0;

  const fault = (code: FaultCode): Fault => new Fault(code, `the hive: ${code}`, { is: 'source', key: 'kijito' });

  /** Until `ms` are over or there is news. @throws Fault `broken` when its connection is dropped; the signal's reason */
  function wait(ms: number, signal: AbortSignal, wakes: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const end = (how: () => void) => (): void => {
        timer[Symbol.dispose]();
        questions.delete(question);
        signal.removeEventListener('abort', stop);
        how();
      };
      const stop = end(() => reject(signal.reason));
      const question: Question = {
        drop: end(() => reject(fault('broken'))),
        wake: wakes ? end(resolve) : () => {},
      };
      const timer = clock.after(ms, end(resolve));
      questions.add(question);
      signal.addEventListener('abort', stop, { once: true });
    });
  }

  async function connect(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (weather.is === 'refuses') throw fault(weather.code);
    if (weather.is === 'well') return;
    await wait(DEADLINE_MS, signal, false);
    throw fault('timeout');
  }

  const moved = (): void => {
    version += 1;
    if (weather.is === 'well') for (const question of [...questions]) question.wake();
  };
  const unreadIn = (rows: readonly Message[]): number => rows.reduce((n, row) => n + (row.read ? 0 : 1), 0);

  const client: HiveClient = {
    async personas(signal) {
      await connect(signal);
      return names;
    },
    async window(address, after, signal) {
      await connect(signal);
      const all = inboxes.get(address) ?? [];
      const rows = after === null ? [] : all.filter(({ id }) => id > after).map((row) => ({ ...row }));
      return { messages: rows, max: all.at(-1)?.id ?? 0, unread: exactly(unreadIn(all)), urgent: exactly(0) };
    },
    async pending(hold, signal) {
      await connect(signal);
      if (hold !== null && hold.cursor === String(version)) await wait(hold.ms, signal, true);
      await connect(signal);
      const byAddress = new Map<string, UnreadCounts>();
      for (const [name, rows] of inboxes) {
        const unread = unreadIn(rows);
        if (unread > 0) byAddress.set(name, { unread: exactly(unread), urgent: exactly(0) });
      }
      return { at: clock.now(), byAddress, cursor: String(version) };
    },
    reset() {
      resets += 1;
      for (const question of [...questions]) question.drop();
    },
    [Symbol.asyncDispose]: async () => {},
  };

  return {
    client,
    get weather() {
      return weather;
    },
    set weather(next) {
      weather = next;
    },
    deliver(persona) {
      lastId += 1;
      const created = new Date(clock.now()).toISOString();
      const rows = inboxes.get(persona);
      rows?.push({ id: lastId, from: 'river', created, content: `mail ${lastId}: ${'text '.repeat(20)}`, read: false });
      if (rows !== undefined && rows.length > STORED_MESSAGES) rows.shift();
      delivered.set(persona, (delivered.get(persona) ?? 0) + 1);
      moved();
    },
    markAllRead() {
      for (const [name, rows] of inboxes) {
        inboxes.set(
          name,
          rows.map((row) => ({ ...row, read: true })),
        );
      }
      moved();
    },
    delivered,
    get resets() {
      return resets;
    },
    get asked() {
      return questions.size;
    },
  };
}
