import type { Health, Instant } from '../model/index.ts';
import type { PollResult } from '../sources/index.ts';
import { buildBatch, EMPTY_DRAFT, type StepOutput } from './batch.ts';
import type { Notice, WatcherRules, WatcherState } from './watcher-state.ts';

/**
 * Steps a poll result that has only counts. It delivers edges of health and `armed`. There is no mail, so no checkpoint
 * either.
 */
export function stepLevel(before: WatcherState, at: Instant, pollResult: PollResult, rules: WatcherRules): StepOutput {
  const health: Health = before.health.is === 'up' ? before.health : { is: 'up', since: at };
  const armed: readonly Notice[] = before.arming === 'armed' ? [] : [{ is: 'armed' }];
  const notices = [...before.notices, ...armed];
  const state: WatcherState = { ...before, arming: 'armed', checkpoint: { is: 'unset' }, notices, health, failures: 0 };
  const edge = state.deliveredEdge === 'DOWN' ? 'UP' : null;
  const out = buildBatch(state, at, rules, {
    ...EMPTY_DRAFT,
    checkpoint: state.checkpoint,
    save: true,
    edge,
    notices,
  });
  const { unread, urgent, agentState } = pollResult;
  const persona = rules.persona ?? '_';
  return { ...out, facts: [{ is: 'polled', at, persona, health, unread, urgent, agentState, cursor: null }] };
}
