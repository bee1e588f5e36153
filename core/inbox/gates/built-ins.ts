import { DECISION, DECISION_WAITING, type Gate, type GateState } from './gate.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** The gates that every persona has without a file (contract 4). A file with the same id replaces a built-in gate. */
export const BUILT_INS: readonly Gate[] = [
  {
    id: DECISION,
    hook: 'Stop',
    mode: 'strict',
    description: 'a decision of this persona is still open',
    hint: 'hivebar decision create, then hivebar decision wait',
    check: 'decision-waiting',
    matcher: null,
    ttlSeconds: 24 * HOUR,
  },
  {
    id: 'commit-push',
    hook: 'Stop',
    mode: 'soft',
    description: 'there are uncommitted changes',
    hint: 'commit and push them',
    check: 'commit-push',
    matcher: null,
    ttlSeconds: HOUR,
  },
  {
    id: 'bead-update',
    hook: 'Stop',
    mode: 'soft',
    description: 'the hooked bead may not show the progress of the work',
    hint: 'update it, then hivebar gate mark bead-update',
    check: 'bead-update',
    matcher: null,
    ttlSeconds: HOUR,
  },
  {
    id: 'mol-gate-pending',
    hook: 'Stop',
    mode: 'soft',
    description: 'the hooked bead may have open gates',
    hint: 'look at its gates, then hivebar gate mark mol-gate-pending',
    check: 'mol-gate-pending',
    matcher: null,
    ttlSeconds: 30 * MINUTE,
  },
  {
    id: 'destructive-op',
    hook: 'PreToolUse',
    mode: 'strict',
    description: 'a destructive operation needs approval',
    hint: 'hivebar gate mark destructive-op, which holds for one minute',
    check: null,
    matcher: null,
    ttlSeconds: MINUTE,
  },
  {
    id: 'sandbox-boundary',
    hook: 'PreToolUse',
    mode: 'soft',
    description: 'the operation may leave the working folder',
    hint: 'hivebar gate mark sandbox-boundary, which holds for one minute',
    check: null,
    matcher: null,
    ttlSeconds: MINUTE,
  },
  {
    id: 'context-injection',
    hook: 'UserPromptSubmit',
    mode: 'soft',
    description: 'there may be unread messages',
    hint: 'hivebar inbox list',
    check: null,
    matcher: null,
    ttlSeconds: 5 * MINUTE,
  },
  {
    id: 'stale-context',
    hook: 'UserPromptSubmit',
    mode: 'soft',
    description: 'the context of the work may be out of date',
    hint: 'read the state of the work again',
    check: null,
    matcher: null,
    ttlSeconds: 5 * MINUTE,
  },
  {
    id: 'state-checkpoint',
    hook: 'PreCompact',
    mode: 'soft',
    description: 'the state of the work may not be saved',
    hint: 'save it, then hivebar gate mark state-checkpoint',
    check: null,
    matcher: null,
    ttlSeconds: 5 * MINUTE,
  },
  {
    id: 'dirty-work',
    hook: 'PreCompact',
    mode: 'soft',
    description: 'there may be uncommitted changes',
    hint: 'commit them, then hivebar gate mark dirty-work',
    check: null,
    matcher: null,
    ttlSeconds: HOUR,
  },
  {
    id: DECISION_WAITING,
    hook: null,
    mode: 'soft',
    description: 'a session waits for the answer to a decision',
    hint: null,
    check: null,
    matcher: null,
    ttlSeconds: 30 * MINUTE,
  },
];

/**
 * Whether a hook checks this gate. Built-in gates have no matcher and would hold every tool call, so before a tool only
 * registered gates are checked.
 */
export function isCheckedByHook({ gate, isBuiltIn }: Pick<GateState, 'gate' | 'isBuiltIn'>): boolean {
  return gate.hook !== 'PreToolUse' || !isBuiltIn;
}

/**
 * When a gate counts. `open-decision`: while a decision of the persona is open; `gate-check`: only for that command, not for
 * hooks.
 */
export type GateTiming = 'always' | 'open-decision' | 'gate-check';

export function toGateTiming({ gate, isBuiltIn }: Pick<GateState, 'gate' | 'isBuiltIn'>): GateTiming {
  if (!isCheckedByHook({ gate, isBuiltIn })) return 'gate-check';
  return gate.id === DECISION && isBuiltIn ? 'open-decision' : 'always';
}
