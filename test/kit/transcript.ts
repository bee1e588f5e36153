import assert from 'node:assert/strict';
import type { Event } from '../../core/events/index.ts';
import { AGENT_STATE_NOT_REPORTED, exactly, Fault, type KnownSet, mergeSpans } from '../../core/model/index.ts';
import { EMPTY_TAIL, type Tail } from '../../core/sinks/index.ts';
import type { LogEvidence, Message, PollResult, SetEvidence, SetItem } from '../../core/sources/index.ts';
import {
  createInitialState,
  type SavedState,
  step,
  toSavedState,
  type WatcherRules,
  type WatcherStart,
} from '../../core/watcher/index.ts';

type Input = Parameters<typeof step>[1];
type Output = ReturnType<typeof step>;

/** How a transcript begins, as far as it differs from a first start at most once. */
export interface Setting {
  readonly rules?: Partial<WatcherRules>;
  readonly start?: WatcherStart;
  readonly saved?: SavedState;
  readonly tail?: Tail;
}

export const RULES: WatcherRules = {
  persona: 'ada',
  address: 'ada',
  source: 'kijito-inbox',
  run: '00ff00ff00ff00ff',
  pollSeconds: 60,
  alertAfter: 3,
  maxReplay: 50,
  heartbeatMs: null,
  suppressed: new Set(),
  delivery: 'at-most-once',
  silenced: new Set(),
};
/** At least once. */
export const ONCE_MORE: Setting = { rules: { delivery: 'at-least-once' } };
/** When every transcript begins. */
export const T0 = Date.UTC(2026, 5, 20);

/**
 * Plays a transcript: a list of what happens, each line with what comes of it.
 *
 *     poll 1 2/bo      the inbox holds message 1 from river and message 2 from bo; `poll 1-5` five messages
 *     poll 8-9 hole    the same, and what lies between the cursor and 8 could not be had; `hidden=3`: see `toPollResult`
 *     set a b/bo c.read   a set in place of a log: three things, see `toSetPollResult`
 *     fail             the inbox could not be read
 *     beat             a tick that looks at nothing
 *     +60s             time passes (-60s: the wall clock is set back)
 *     restart          a new process, with what was saved and the ids the sink holds; `restart seed 5`, `restart unsaved`
 *     ... takes 1      the sink takes one event and refuses the rest
 *
 *     -> told events, !refused events | cursor, state and failures as they would be saved
 */
export function given(setting: Setting = {}): (script: TemplateStringsArray, ...words: readonly string[]) => void {
  return (script, ...words) => play(String.raw({ raw: script }, ...words), setting);
}

function play(script: string, setting: Setting): void {
  const rules = { ...RULES, ...setting.rules };
  const sinkHolds = new Set(setting.tail?.eventIds);
  let at = T0;
  let state = createInitialState(
    at,
    setting.start ?? { is: 'baseline' },
    setting.saved ?? null,
    setting.tail ?? EMPTY_TAIL,
    rules,
  );
  const saved = (): string => {
    const { cursor, state: reported, consecutive_failures, known } = toSavedState(state);
    return `${known === undefined ? cursor : knownWords(known)} ${reported} ${consecutive_failures}`;
  };
  const act = (input: Input, takes: number): string => {
    const out = step(state, input, rules);
    const count = Math.min(takes, out.batch.length);
    state = out.batch.length === 0 ? out.state : answer(out, count, at, rules).state;
    const reported = out.batch.slice(0, count);
    for (const event of reported) if (event.event === 'new') sinkHolds.add(event.event_id);
    return [...reported.map(worded), ...out.batch.slice(count).map((event) => `!${worded(event)}`)].join(' ');
  };
  const run = (command: string): string => {
    const [verb = '', ...words] = command.replace(/ takes \d+$/, '').split(' ');
    const takes = Number(/ takes (\d+)$/.exec(command)?.[1] ?? Number.POSITIVE_INFINITY);
    if (verb === 'poll') return act({ at, is: 'polled', pollResult: toPollResult(words, at) }, takes);
    if (verb === 'set') return act({ at, is: 'polled', pollResult: toSetPollResult(words, at) }, takes);
    if (verb === 'fail') return act({ at, is: 'failed', fault: REFUSED, settling: false }, takes);
    if (verb === 'beat') return act({ at, is: 'beat' }, takes);
    if (verb === 'restart') {
      const seed = words[0] === 'seed' ? ({ is: 'seed', id: Number(words[1]) } as const) : null;
      const storedState =
        words[0] === 'unsaved' ? null : (JSON.parse(JSON.stringify(toSavedState(state))) as SavedState);
      state = createInitialState(at, seed ?? { is: 'resume' }, storedState, { eventIds: sinkHolds }, rules);
      return '';
    }
    assert.match(verb, /^[+-]\d+s$/);
    at += Number(verb.slice(0, -1)) * 1000;
    return '';
  };
  const lines = script.split('\n').map((line) => line.trim().replace(/\s+/g, ' '));
  const expected = lines.filter((line) => line !== '' && !line.startsWith('#'));
  const actual = expected.map((line) => {
    const command = line.split(/ ?(?:->|\|)/)[0] ?? '';
    const reported = run(command);
    return [command, ...(reported === '' ? [] : ['->', reported]), '|', saved()].join(' ');
  });
  assert.equal(actual.join('\n'), expected.join('\n'));
}

/** The sink took the first `count` of what was offered. */
export function answer(out: Output, count: number, at: number, rules: WatcherRules): Output {
  const ack = count === out.batch.length ? ({ is: 'all' } as const) : ({ is: 'stopped', count, fault: FULL } as const);
  return step(out.state, { at, is: 'taken', ack }, rules);
}

export const REFUSED = new Fault('refused', 'refused', { is: 'source', key: 'kijito' });
const FULL = new Fault('no-space', 'full', { is: 'machine', key: 'disk' });

/**
 * `1 2/bo 4-6` as rows; `hole` when rows below them, and between them where ids are missing, could not be had;
 * `hidden=3` when the hive says that so many unread ones are not shown; `read` when all of them are read.
 */
export function toPollResult(words: readonly string[], at: number): PollResult & { readonly evidence: LogEvidence } {
  const rows = words
    .filter((word) => /^\d/.test(word))
    .flatMap((word): Message[] => {
      const [ids = '', from = 'river'] = word.split('/');
      const [first = 0, last = first] = ids.split('-').map(Number);
      return Array.from({ length: last - first + 1 }, (_, i) => ({
        id: first + i,
        from,
        created: '2026-06-20T00:00:00',
        content: 'hello',
        read: false,
      }));
    });
  const max = rows.at(-1)?.id ?? 0;
  const unread = exactly(words.includes('read') ? 0 : rows.length);
  const floor = rows[0]?.id ?? null;
  const spans = mergeSpans(rows.map(({ id }) => ({ from: id, to: id })));
  const gap = { why: 'a page failed', spans, omitted: null, floor, walked: 0 };
  const hidden = words.find((word) => word.startsWith('hidden='))?.slice('hidden='.length);
  const evidence: LogEvidence = {
    is: 'log',
    messages: rows,
    max,
    ...(words.includes('hole') ? { gap } : {}),
    ...(hidden === undefined ? {} : { hidden: { unread: Number(hidden), floor } }),
  };
  return { at, unread, urgent: exactly(0), agentState: AGENT_STATE_NOT_REPORTED, evidence };
}

const WORK = ['handoff', 'assigned', 'action'] as const;

/**
 * `a b/bo c.read d.delivered` as things of a garden box, with the mark `fresh` where none is named; what is first seen `read` is
 * quiet, and what is called after an event of work appears with it. `epoch=2`: another set. `none-unread`: nothing counts as unread.
 */
export function toSetPollResult(words: readonly string[], at: number): PollResult & { readonly evidence: SetEvidence } {
  const items = words
    .filter((word) => !/=|^none-unread$/.test(word))
    .map((word): SetItem => {
      const [name = '', from = 'river'] = word.split('/');
      const [key = '', mark = 'fresh'] = name.split('.');
      const as = WORK.find((prefix) => key.startsWith(prefix));
      return {
        key,
        fingerprint: mark,
        appeared: mark === 'read' ? 'quiet' : (as ?? 'new'),
        changed: mark === 'read' || mark === 'delivered' ? mark : null,
        vanished: 'gone',
        from,
        created: '2026-06-20T00:00:00',
        content: 'hello',
        extra: { stem: key },
      };
    });
  const epoch = words.find((word) => word.startsWith('epoch='))?.slice('epoch='.length) ?? '1';
  const waiting = items.filter(({ fingerprint: mark }) => mark !== 'read').length;
  const unread = exactly(words.includes('none-unread') ? 0 : waiting);
  return {
    at,
    unread,
    urgent: exactly(0),
    agentState: AGENT_STATE_NOT_REPORTED,
    evidence: { is: 'set', epoch, items },
  };
}

/** The next `seq` and what is known: `3[a1 b2.read c-]`, where `-` is nothing told, ever. */
function knownWords({ next, keys }: KnownSet): string {
  const words = keys.map(
    ({ key, seq, fingerprint: mark }) => `${key}${seq ?? '-'}${mark === 'fresh' ? '' : `.${mark}`}`,
  );
  return `${next}[${words.join(' ')}]`;
}

export function worded(event: Event): string {
  switch (event.event) {
    case 'delivered':
    case 'read':
    case 'gone':
    case 'cleared':
    case 'acked':
      return `${event.event}(${event.id}${formatStem(event)})`;
    case 'new':
    case 'handoff':
    case 'assigned':
    case 'action':
    case 'question':
      return `${event.event}(${event.id}${formatStem(event)}${event.self ? ' self' : ''})`;
    case 'armed':
    case 'recovered':
    case 'heartbeat':
      return `${event.event}(${event.cursor})`;
    case 'alert':
      if (event.reason === 'gap') return `gap(${event.cursor_at})`;
      if (event.reason === 'log-restarted') return `log-restarted(${event.cursor_at}>${event.current_max})`;
      if (event.reason === 'evidence-lost') return `evidence-lost(${event.cursor_at} -${event.forgot})`;
      if (event.reason === 'unread-not-shown') return `hidden(${event.unread_not_shown} ${event.above_watermark})`;
      if (event.reason !== 'unreachable') return event.reason;
      return `alert(${event.consecutive_failures} ${event.seconds}s)`;
    case 'gap':
      return `gap(${event.cursor_at})`;
    case 'seed_ahead':
      return `seed_ahead(${event.seeded}>${event.current_max})`;
    case 'replay_capped':
      return `replay_capped(${event.capped_to} -${event.dropped})`;
    case 'persona_added':
      return 'persona_added';
    case 'waiting':
      return `waiting(${event.reason})`;
    case 'resumed':
      return `resumed(${event.reason} ${event.agent})`;
    case 'state_corrupt':
      return `state_corrupt(${event.armed_at})`;
    case 'baseline_skipped':
      return `baseline_skipped(${event.id_range[0]}-${event.id_range[1]} ${event.unread_held})`;
  }
}

function formatStem(event: Event): string {
  return 'stem' in event ? ` ${event.stem}` : '';
}

export const resumed = (cursor: number | null, state: 'UP' | 'DOWN' = 'UP', failures = 0): Setting => ({
  start: { is: 'resume' },
  saved: { cursor, state, consecutive_failures: failures },
});
export const withRules = (setting: Setting, rules: Partial<WatcherRules>): Setting => ({
  ...setting,
  rules: { ...setting.rules, ...rules },
});
