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
export type Composer = { readonly is: 'none' } | { readonly is: 'there'; readonly text: string };

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

export type Typing =
  | { readonly is: 'type' }
  /** Not now: decide again later. */
  | { readonly is: 'wait'; readonly why: string };

/** Decides whether the words may be typed: only into an empty composer of an agent whose harness reports it idle. */
export function decideTyping(facts: TypingFacts): Typing {
  const why = explainNotNow(facts);
  if (why !== null) return { is: 'wait', why };
  const composer = readComposer(facts.pane);
  if (composer.is === 'none') return { is: 'wait', why: 'no empty prompt is shown' };
  if (composer.text !== '') return { is: 'wait', why: 'something stands in the prompt' };
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
  if (isAtPrompt) return 'an agent of it asks for something';
  if (harness === 'unknown') return 'its harness does not say that it is idle';
  if (harness !== 'idle') return `its harness says that it is ${harness}`;
  if (!pane.hasAgentInFront) return 'another program has the terminal';
  if (pane.isInMode) return 'the pane is in copy mode, or shows a menu';
  if (!pane.takesKeys) return 'the pane takes no keys, or shares them with others';
  return null;
}
