import { MOST_COUNTED } from '../inbox/index.ts';
import type { Instant } from '../model/index.ts';

/** What is known of an agent for which items are staged (inbox and gates, contract 7). Times are wall clock. */
export interface NudgeFacts {
  /** How many items wait, by priority, counted now. */
  readonly pending: readonly [number, number, number, number, number];
  /** The id of the newest item that waits; ids rise. 0: none. */
  readonly waiting: number;
  /** When the agent's hook last ran, and at which moment; null: never, so nothing is known of its turns. */
  readonly last: { readonly moment: string; readonly at: Instant } | null;
  /** When the agent was last shown items of its inbox; null: never. */
  readonly shownAt: Instant | null;
  /** The previous nudge; null: none. */
  readonly before: NudgeRecord | null;
  /** Who wants to nudge. */
  readonly via: NudgeVia;
  readonly now: Instant;
}

/** `channel`: a channel of Claude Code, which loses messages silently. `other`: any other way. */
export type NudgeVia = 'channel' | 'other';

/** A nudge that was sent, whichever way. It is about all items up to this id. */
export interface NudgeRecord {
  readonly waiting: number;
  readonly at: Instant;
  readonly via: NudgeVia;
}

export type Nudge =
  | { readonly is: 'nudge' }
  /** Too early: decide again after this many milliseconds. */
  | { readonly is: 'later'; readonly ms: number }
  | { readonly is: 'none'; readonly why: 'nothing waits' | 'working' | 'outstanding' | 'told' | 'over' | 'unknown' };

const MINUTE = 60_000;
/** After this time a nudge without an answer counts as lost. */
export const NUDGE_LAPSES_MS = 30 * MINUTE;
/** The same for a nudge over a channel, when another way asks. */
export const CHANNEL_LAPSES_MS = MINUTE;
/** The moment that is noted while the hook of a Stop decides; after it `Stop` or `Continued`. */
export const STOPPING = 'Stopping';
/**
 * A new session gets this long: it may be given its first prompt, or go on after a compaction. So does one whose person broke off a turn,
 * and may be writing.
 */
export const STARTS_MS = MINUTE;
/** After these nobody works, and a person may be about to. */
const PAUSES: ReadonlySet<string> = new Set(['SessionStart', 'Interrupt']);
/**
 * How long an agent counts as working after a moment, in milliseconds. The time is limited because most programs run no hook when a
 * person broke off a turn. A tool may run long.
 */
export const WORKS_MS: Readonly<Record<string, number>> = {
  UserPromptSubmit: 15 * MINUTE,
  PreToolUse: 60 * MINUTE,
  PostToolUse: 15 * MINUTE,
  PreCompact: 15 * MINUTE,
  Continued: 15 * MINUTE,
  // Its hook decides whether the agent may stop, and may be killed: a harness waits 10 s for it.
  [STOPPING]: 15_000,
};

/**
 * Decides whether to nudge an agent. An idle agent is nudged once; a working agent is never nudged, because its next hook
 * delivers. At most one nudge is outstanding, and an agent that was shown nothing after a nudge is not nudged for the same items
 * again. One that was shown some of them gets the rest by another nudge, because a hook shows no more than fits. Ask with what waits
 * at that very moment, so that no nudge is sent for mail that was read meanwhile (contract 8, defect 13).
 *
 * A nudge over a channel may be lost, so it holds back another way only for a minute. The channel itself never repeats one.
 */
export function decideNudge({ pending, waiting, last, shownAt, before, via, now }: NudgeFacts): Nudge {
  if (pending.every((count) => count === 0)) return { is: 'none', why: 'nothing waits' };
  if (last === null) return { is: 'none', why: 'unknown' };
  const idle = computeIdleIn(last.moment, now - last.at);
  if (idle === 'over') return { is: 'none', why: 'over' };
  if (idle > 0) return PAUSES.has(last.moment) ? { is: 'later', ms: idle } : { is: 'none', why: 'working' };
  if (before === null) return { is: 'nudge' };
  const isAnswered = last.at > before.at;
  const isCertain = before.via === 'other' || via === 'channel';
  const lapsesMs = isCertain ? NUDGE_LAPSES_MS : CHANNEL_LAPSES_MS;
  if (!isAnswered && now - before.at < lapsesMs) return { is: 'none', why: 'outstanding' };
  const isNew = waiting > before.waiting || (shownAt !== null && shownAt > before.at);
  return isAnswered && isCertain && !isNew ? { is: 'none', why: 'told' } : { is: 'nudge' };
}

/** Milliseconds until the agent is idle if nothing else happens; 0: it is idle. `over`: a nudge cannot reach the agent. */
function computeIdleIn(moment: string, age: number): number | 'over' {
  switch (moment) {
    case 'Stop':
      return 0;
    case 'SessionStart':
    case 'Interrupt':
      return Math.max(0, STARTS_MS - age);
    case 'SessionEnd':
    case 'StopFailure': // the model cannot be asked: a nudge would fail as the turn did
      return 'over';
    default:
      return Math.max(0, (WORKS_MS[moment] ?? 0) - age);
  }
}

/** Formats the nudge: that something waits and how much. It contains no text that anybody else wrote. */
export function formatNudge(pending: NudgeFacts['pending']): string {
  const total = pending.reduce((sum, count) => sum + count, 0);
  const urgent = pending[0] + pending[1];
  const items = total === 1 ? '1 item waits' : `${total}${total >= MOST_COUNTED ? ' or more' : ''} items wait`;
  return `hivebar: ${items} in your inbox${urgent === 0 ? '' : ` (${urgent} urgent)`}`;
}

/** What a pane of a terminal multiplexer shows at one moment. */
export interface PaneState {
  /** The pane is scrolled back, or the multiplexer shows a menu: keys do not reach the program. */
  readonly isInMode: boolean;
  /** Keys reach the pane's program, and no other pane at the same time. */
  readonly takesKeys: boolean;
  /** The agent is the program that reads what is typed in the pane. */
  readonly hasAgentInFront: boolean;
  readonly cursor: { readonly x: number; readonly y: number };
  readonly width: number;
  /** The visible lines, without colours. */
  readonly lines: readonly string[];
}

/** What the harness reports of a session; `unknown`: it reports nothing, or nothing about this session. */
export type HarnessState = 'idle' | 'busy' | 'waiting' | 'unknown';

/** The text in the harness's input line; `none`: no input line is shown, or it cannot be told apart from other text. */
type Composer = { readonly is: 'none' } | { readonly is: 'there'; readonly text: string };

/**
 * The words that Hivebar types, always the same. They contain no text of others, no digit (digits choose in a menu) and nothing
 * that a shell acts on.
 */
export const TYPED_WORDS = 'hivebar: something waits in your inbox';

const PROMPT = /^[❯>][ \u00a0]/u;
const PROMPT_WIDTH = 2;
const RULE = /^─{10,}[^❯>]*$/u;
const PLAIN_RULE = /^─{10,}$/u;

/** Reads the composer of Claude Code: the line with the cursor and a prompt in front, between two rules. */
export function readComposer({ lines, cursor }: Pick<PaneState, 'lines' | 'cursor'>): Composer {
  const line = lines[cursor.y]?.trimEnd() ?? '';
  const isPromptVisible = PROMPT.test(`${line} `) && isAlone(lines, cursor.y);
  if (!isPromptVisible) return { is: 'none' };
  const text = line.slice(PROMPT_WIDTH).replace(/[\s\u00a0]+$/u, '');
  // A cursor elsewhere in the line means that a person is writing, or that the line is a list of choices.
  return cursor.x === PROMPT_WIDTH + [...text].length ? { is: 'there', text } : { is: 'none' };
}

function isAlone(lines: readonly string[], y: number): boolean {
  return RULE.test(lines[y - 1]?.trim() ?? '') && PLAIN_RULE.test(lines[y + 1]?.trim() ?? '');
}

/** Everything that must be known before Hivebar presses a key. */
export interface TypingFacts {
  readonly harness: HarnessState;
  /** A hook reported that an agent of this session asks for something, and no later hook reported that it went on. */
  readonly isAtPrompt: boolean;
  readonly pane: PaneState;
}

type Typing =
  | { readonly is: 'type' }
  /** Not now: decide again later. */
  | { readonly is: 'wait'; readonly why: string };

/** Decides whether the words may be typed: only into an empty composer of an agent whose harness reports it idle. */
export function decideTyping(facts: TypingFacts): Typing {
  const why = explainNotNow(facts);
  if (why !== null) return { is: 'wait', why };
  const composer = readComposer(facts.pane);
  if (composer.is === 'none') return { is: 'wait', why: 'no empty prompt is shown' };
  if (composer.text !== '') return { is: 'wait', why: 'the prompt is not empty' };
  if (facts.pane.width < PROMPT_WIDTH + TYPED_WORDS.length + 2) return { is: 'wait', why: 'the pane is too narrow' };
  return { is: 'type' };
}

/**
 * Decides what to do after the words were typed. `enter`: exactly these words are in the composer, and the agent is still idle.
 * `take back`: the words are alone in the composer, so backspaces remove only them. `leave`: what is in the composer is not
 * certain.
 */
export function decideEnter(facts: TypingFacts): 'enter' | 'take back' | 'leave' {
  const composer = readComposer(facts.pane);
  if (composer.is === 'none' || composer.text !== TYPED_WORDS) return 'leave';
  const why = explainNotNow(facts);
  if (why === null) return 'enter';
  return facts.pane.isInMode || !facts.pane.takesKeys || !facts.pane.hasAgentInFront ? 'leave' : 'take back';
}

function explainNotNow({ harness, isAtPrompt, pane }: TypingFacts): string | null {
  if (isAtPrompt) return 'an agent there asks a question';
  if (harness === 'unknown') return 'its harness does not report that it is idle';
  if (harness !== 'idle') return `its harness reports that it is ${harness}`;
  if (!pane.hasAgentInFront) return 'another program has the terminal';
  if (pane.isInMode) return 'the pane is in copy mode, or shows a menu';
  if (!pane.takesKeys) return 'the pane accepts no keys, or shares them with other panes';
  return null;
}
