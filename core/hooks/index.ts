export {
  LOOP,
  MOST_CONTINUES,
  type Moment,
  type Move,
  moveAt,
  type Verdict,
} from './boundary.ts';
export {
  type Answer,
  type Carries,
  HARNESS_NAMES,
  type Harness,
  HOOK_EVENTS,
  type HookEvent,
  harnessOf,
  hookEventOf,
  notifiedTurn,
  type Reply,
  type Turn,
  versionSaid,
} from './harness/index.ts';
export { type Awaited, type Nudge, type Nudged, nudgeFor, nudgeText } from './nudge.ts';
export { AT_REST, afterBlock, afterContinue, beginsTurn, type Pacing, pacedAt, pacingIn, stateOf } from './pacing.ts';
export {
  decideEnter,
  decideTyping,
  type HarnessState,
  type PaneState,
  readComposer,
  TYPED_WORDS,
  type TypingFacts,
} from './typing.ts';
