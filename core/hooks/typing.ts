/** What a pane of a terminal multiplexer shows, at one moment. */
export interface PaneState {
  /** It is scrolled back, or a menu of the multiplexer stands over it: keys do not go to the program. */
  readonly isInMode: boolean;
  /** Keys go to its program, and to no other pane at the same time. */
  readonly takesKeys: boolean;
  /** The agent is the program that reads what is typed there. */
  readonly hasAgentInFront: boolean;
  readonly cursor: { readonly x: number; readonly y: number };
  readonly width: number;
  /** The visible lines, without colours. */
  readonly lines: readonly string[];
}

/** What the harness itself says of a session; `unknown`: it says nothing, or not of this session. */
export type HarnessState = 'idle' | 'busy' | 'waiting' | 'unknown';

/** What stands where a person would write; `none`: there is no such place, or it is not told from something else. */
export type Composer = { readonly is: 'none' } | { readonly is: 'there'; readonly text: string };

/**
 * What is typed, always the same: nothing that others wrote, no digit, which chooses in a menu, and nothing a shell acts on.
 */
export const TYPED_WORDS = 'hivebar: something waits in your inbox';

const PROMPT = /^[❯>][ \u00a0]/u;
const PROMPT_WIDTH = 2;
const RULE = /^─{10,}[^❯>]*$/u;
const PLAIN_RULE = /^─{10,}$/u;

/** The composer of Claude Code: the line of the cursor, with a prompt in front, between two rules. */
export function readComposer({ lines, cursor }: Pick<PaneState, 'lines' | 'cursor'>): Composer {
  const line = lines[cursor.y]?.trimEnd() ?? '';
  const isPromptVisible = PROMPT.test(`${line} `) && isAlone(lines, cursor.y);
  if (!isPromptVisible) return { is: 'none' };
  const text = line.slice(PROMPT_WIDTH).replace(/[\s\u00a0]+$/u, '');
  // A cursor that is elsewhere in the line is that of a person who is writing, or of a list of choices.
  return cursor.x === PROMPT_WIDTH + [...text].length ? { is: 'there', text } : { is: 'none' };
}

function isAlone(lines: readonly string[], y: number): boolean {
  return RULE.test(lines[y - 1]?.trim() ?? '') && PLAIN_RULE.test(lines[y + 1]?.trim() ?? '');
}

/** Everything that must be known before a key is pressed for somebody. */
export interface TypingFacts {
  readonly harness: HarnessState;
  /** A hook said that an agent of this session asks for something, and none that it went on. */
  readonly isAtPrompt: boolean;
  readonly pane: PaneState;
}

export type Typing =
  | { readonly is: 'type' }
  /** Not now: it is worth another look. */
  | { readonly is: 'wait'; readonly why: string };

/** Whether the words may be typed: only into an empty composer of an agent that says of itself that it is idle. */
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
 * What is done once the words were typed: Enter only when exactly they stand in the composer of an agent that is still idle.
 * `take back`: they stand alone there, so that as many backspaces remove them and nothing else; `leave`: nobody can tell.
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
