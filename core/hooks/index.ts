export {
  type Carries,
  findHarness,
  findHarnessVersion,
  HARNESS_NAMES,
  type Harness,
  HOOK_EVENTS,
  type HookAnswer,
  type HookEvent,
  type HookReply,
  type HookTurn,
  parseHookEvent,
  parseTurnNotification,
} from './harness/index.ts';
export { decideNudge, formatNudge, type Nudge, type NudgeFacts, type NudgeRecord } from './nudge.ts';
export {
  AT_REST,
  advancePacing,
  computeTurnHash,
  isTurnStart,
  type Pacing,
  recordBlock,
  recordContinue,
  toPacing,
} from './pacing.ts';
export {
  decideMove,
  type GateSummary,
  type HookMoment,
  type HookMove,
  LOOP,
  MOST_CONTINUES,
} from './turn-boundary.ts';
export {
  decideEnter,
  decideTyping,
  type HarnessState,
  type PaneState,
  readComposer,
  TYPED_WORDS,
  type TypingFacts,
} from './typing.ts';
