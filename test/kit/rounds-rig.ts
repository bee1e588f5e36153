import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Fact } from '../../core/board/index.ts';
import { AGENT_STATE_NOT_REPORTED, exactly, Fault, type FaultCode, UNKNOWN } from '../../core/model/index.ts';
import { type Ack, EMPTY_TAIL, type Sink } from '../../core/sinks/index.ts';
import type { Checkpoint, PendingCounts, Persona, Source } from '../../core/sources/index.ts';
import {
  createInitialState,
  createScheduler,
  createWatcher,
  type SavedState,
  type SchedulerOptions,
  type Watcher,
  type WatcherRules,
  type WatcherStart,
} from '../../core/watcher/index.ts';
import { fakeClock } from './fake-clock.ts';

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
/** Off the beat of the ticks. */
export const RESCAN = 9.5 * MINUTE;
export const FULL: Ack = {
  is: 'stopped',
  count: 0,
  fault: new Fault('no-space', 'disk is full', { is: 'machine', key: 'disk' }),
};

export const fault = (code: FaultCode) => new Fault(code, code, { is: 'source', key: 'kijito' });
const toPersona = (address: string): Persona => ({ id: address, address, label: address });

/** A request that no server ever answers. */
function hanging(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

export interface RoundsSetting {
  readonly personas?: readonly string[];
  readonly options?: Partial<SchedulerOptions>;
  readonly rules?: Partial<WatcherRules>;
  /** Whether the source long-polls. */
  readonly holds?: boolean;
  /** Whether only the list tells of a change, as with a hive. Default: there are hints, as with what lies on this machine. */
  readonly hidesChanges?: boolean;
  /** Whether a look itself tells how much is urgent. Default: so it is. */
  readonly knowsUrgent?: boolean;
  /** Whether personas may be adopted. */
  readonly adopts?: boolean;
  /** Whether members may go: those in `world.gone`. */
  readonly tracks?: boolean;
  readonly run?: boolean;
}

/**
 * One hive and its rounds on a clock that stands still. `since()` is what the hive and the sinks saw since the last call:
 * `pending`, `hold CURSOR`, `look NAME`, `NAME EVENT`, `open NAME`, `personas`.
 */
export async function roundsRig(t: TestContext, setting: RoundsSetting = {}) {
  const clock = fakeClock();
  const log: string[] = [];
  const facts: Fact[] = [];
  const world = {
    mail: new Map<string, number>(),
    directory: [] as string[],
    /** Faults by what was asked: `pending`, `hold`, `personas`, or a name. */
    faults: new Map<string, Fault>(),
    /** What never answers, by the same words. */
    hangs: new Set<string>(),
    gone: new Set<string>(),
    /** How long an answer takes, by the same words. */
    slow: new Map<string, number>(),
    /** Levels that lie: these instead of the mail that is there. */
    levels: null as PendingCounts['byAddress'] | null,
    cursor: 'c1' as string | null,
    /** Lets the hold answer. */
    news: () => {},
    take: (_: string, __: readonly string[]): Ack | Promise<Ack> => ({ is: 'all' }),
    open: (address: string): Promise<Watcher | null> => Promise.resolve(openWatcher(address, { is: 'born' })),
    polled: () => {},
    settling: () => false,
    /** Called while a request is under way. */
    during: (_: string) => {},
    hint: (_: string) => {},
    rescanFailures: [] as Fault[],
  };
  async function asked(request: string, words: string, signal: AbortSignal): Promise<void> {
    log.push(words);
    signal.throwIfAborted();
    world.during(request);
    if (world.hangs.has(request)) await hanging(signal);
    const ms = world.slow.get(request);
    if (ms !== undefined) await clock.sleep(ms, signal);
    signal.throwIfAborted();
    const refusal = world.faults.get(request);
    if (refusal !== undefined) throw refusal;
  }
  const levels = (): PendingCounts => ({
    at: clock.now(),
    byAddress:
      world.levels ?? new Map([...world.mail].map(([name, n]) => [name, { unread: exactly(n), urgent: exactly(0) }])),
    cursor: setting.holds ? world.cursor : null,
  });
  const hold = async (cursor: string, ms: number, signal: AbortSignal): Promise<PendingCounts> => {
    await asked('hold', `hold ${cursor} ${ms}`, signal);
    const cut = new AbortController();
    world.news = () => cut.abort();
    await clock.sleep(ms, AbortSignal.any([signal, cut.signal]));
    signal.throwIfAborted();
    return levels();
  };
  const source: Source = {
    id: 'kijito',
    kind: 'kijito-inbox',
    async personas(signal) {
      await asked('personas', 'personas', signal);
      return world.directory.map(toPersona);
    },
    async poll({ address }, _: Checkpoint, signal) {
      await asked(address, `look ${address}`, signal);
      const max = world.mail.get(address) ?? 0;
      const rows = Array.from({ length: max }, (_, i) => ({
        id: i + 1,
        from: 'river',
        created: 'c',
        content: 'x',
        read: false,
      }));
      const evidence = { is: 'log' as const, messages: rows, max };
      const urgent = setting.knowsUrgent === false ? UNKNOWN : exactly(0);
      return { at: clock.now(), unread: exactly(max), urgent, agentState: AGENT_STATE_NOT_REPORTED, evidence };
    },
    pending: {
      async once(signal) {
        await asked('pending', 'pending', signal);
        return levels();
      },
      ...(setting.holds ? { hold } : {}),
      hidesChanges: setting.hidesChanges ?? false,
    },
    hints(wake) {
      world.hint = wake;
      return { [Symbol.dispose]: () => void log.push('hints end') };
    },
    reset: () => void log.push('reset'),
    ...(setting.tracks ? { isGone: ({ address }: Persona) => world.gone.has(address) } : {}),
    [Symbol.asyncDispose]: async () => {},
  };
  const openWatcher = (address: string, start: WatcherStart): Watcher => {
    const rules: WatcherRules = {
      persona: address,
      address,
      source: 'kijito-inbox',
      run: '00ff00ff00ff00ff',
      pollSeconds: 60,
      alertAfter: 3,
      maxReplay: 50,
      heartbeatMs: null,
      suppressed: new Set(),
      delivery: 'at-least-once',
      silenced: new Set(),
      ...setting.rules,
    };
    const sink: Sink<SavedState> = {
      savesState: true,
      open: async () => EMPTY_TAIL,
      async take(events) {
        const names = events.map((event) => (event.event === 'new' ? `new ${event.id}` : event.event));
        const ack = await world.take(address, names);
        for (const name of names) log.push(`${address} ${ack.is === 'all' ? '' : '!'}${name}`);
        return ack;
      },
      [Symbol.asyncDispose]: async () => void log.push(`close ${address}`),
    };
    const state = createInitialState(clock.now(), start, null, EMPTY_TAIL, rules);
    const put = (fact: Fact) => void facts.push(fact);
    const persona = toPersona(address);
    const settling = (): boolean => world.settling();
    return createWatcher({ persona, source, sink, saver: null, rules, state, clock, put, settling });
  };
  const rounds = createScheduler({
    source,
    clock,
    put: (fact) => void facts.push(fact),
    intervalMs: MINUTE,
    resyncEvery: 10,
    fastPath: true,
    holdMs: 50 * SECOND,
    pollsAtOnce: 4,
    adopt: setting.adopts
      ? {
          everyMs: RESCAN,
          open: (persona) => {
            log.push(`open ${persona.address}`);
            return world.open(persona.address);
          },
          toPersona: toPersona,
          onRescanFailed: (why) => void world.rescanFailures.push(why),
        }
      : null,
    onPolled: () => world.polled(),
    ...setting.options,
  });
  const stop = new AbortController();
  const watchers = (setting.personas ?? ['ada', 'bo']).map((address) => openWatcher(address, { is: 'baseline' }));
  const since = () => log.splice(0);
  const start = (): Promise<void> => rounds.run(watchers, stop.signal);
  let ended: Promise<void> = Promise.resolve();
  if (setting.run !== false) {
    ended = start();
    await clock.advance(0);
  }
  t.after(async () => {
    stop.abort();
    await ended.catch(() => {}); // a test of its failure has seen it
    assert.equal(clock.waiting, 0, 'timers left at the end');
  });
  return { clock, world, rounds, stop, since, ended, start, facts, watchers, openWatcher };
}

export const filterPolls = (seen: readonly string[]) => seen.filter((words) => words.startsWith('look'));
export const counted = (seen: readonly string[], words: string) => seen.filter((each) => each.startsWith(words)).length;
