import {
  decideEnter,
  decideTyping,
  type PaneState,
  readComposer,
  TYPED_WORDS,
  type TypingFacts,
} from '../../core/hooks/index.ts';
import { Fault } from '../../core/model/index.ts';

/** The operations on a pane that typing needs. */
export interface PaneKeys {
  /** Reads all that is known now, the harness's report last. @throws Fault */
  read(): Promise<TypingFacts>;
  /** Pastes the words if the cursor is still at that position, and returns whether it did. @throws Fault */
  paste(words: string, at: PaneState['cursor']): Promise<boolean>;
  /** Does the same for the last step, and only while the words are on the screen. @throws Fault */
  finish(words: string, way: 'enter' | 'take back', at: PaneState['cursor']): Promise<boolean>;
  pause(ms: number): Promise<void>;
}

export type TypingResult = { readonly is: 'nudged' } | { readonly is: 'wait'; readonly why: string };

const MAX_CHECKS = 20;
const EVERY_MS = 100;

/**
 * Types the words for an idle agent, and Enter once they are visible in its composer.
 * @param began called when the words may be on the screen
 * @throws Fault `exec-failed` when the words were left there
 */
export async function typeNudge(keys: PaneKeys, began: () => void): Promise<TypingResult> {
  const first = await keys.read();
  const typing = decideTyping(first);
  if (typing.is === 'wait') return typing;
  let isThere = true;
  try {
    isThere = await keys.paste(TYPED_WORDS, first.pane.cursor);
  } finally {
    if (isThere) began();
  }
  if (!isThere) return { is: 'wait', why: 'the pane changed' };
  const facts = await waitUntilShown(keys);
  const way = decideEnter(facts);
  if (way === 'leave') throw createLeftoverFault();
  if (!(await keys.finish(TYPED_WORDS, way, facts.pane.cursor))) throw createLeftoverFault();
  return way === 'enter'
    ? { is: 'nudged' }
    : { is: 'wait', why: 'it went on while the words were typed, and they were taken back' };
}

/** A program may draw its input a little later. */
async function waitUntilShown(keys: PaneKeys): Promise<TypingFacts> {
  for (let checks = 1; ; checks += 1) {
    await keys.pause(EVERY_MS);
    const facts = await keys.read();
    const composer = readComposer(facts.pane);
    if (checks === MAX_CHECKS || (composer.is === 'there' && composer.text !== '')) return facts;
  }
}

function createLeftoverFault(): Fault {
  const message = `"${TYPED_WORDS}" was typed and not sent, for the pane shows something else now: send or remove it there`;
  return new Fault('exec-failed', message, { is: 'machine', key: 'tmux' });
}
