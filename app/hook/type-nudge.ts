import {
  decideEnter,
  decideTyping,
  type PaneState,
  readComposer,
  TYPED_WORDS,
  type TypingFacts,
} from '../../core/hooks/index.ts';
import { Fault } from '../../core/model/index.ts';

/** A pane, as far as it is typed into. */
export interface Keys {
  /** All that is known now, the harness's word last. @throws Fault */
  look(): Promise<TypingFacts>;
  /** Whether it was done, which it is only while the cursor is there. @throws Fault */
  paste(words: string, at: PaneState['cursor']): Promise<boolean>;
  /** Likewise, and only while the words stand on the screen. @throws Fault */
  finish(words: string, way: 'enter' | 'take back', at: PaneState['cursor']): Promise<boolean>;
  pause(ms: number): Promise<void>;
}

export type Typed = { readonly is: 'nudged' } | { readonly is: 'wait'; readonly why: string };

const LOOKS = 20;
const EVERY_MS = 100;

/**
 * Types the words for an idle agent, and Enter once they are seen to stand in its composer.
 * @param began called when the words may be there
 * @throws Fault `exec-failed` when they were left there
 */
export async function typeNudge(keys: Keys, began: () => void): Promise<Typed> {
  const first = await keys.look();
  const typing = decideTyping(first);
  if (typing.is === 'wait') return typing;
  let isThere = true;
  try {
    isThere = await keys.paste(TYPED_WORDS, first.pane.cursor);
  } finally {
    if (isThere) began();
  }
  if (!isThere) return { is: 'wait', why: 'the pane changed' };
  const facts = await lookUntilShown(keys);
  const way = decideEnter(facts);
  if (way === 'leave') throw leftThere();
  if (!(await keys.finish(TYPED_WORDS, way, facts.pane.cursor))) throw leftThere();
  return way === 'enter'
    ? { is: 'nudged' }
    : { is: 'wait', why: 'it went on while the words were typed, and they were taken back' };
}

/** A program draws what it was given when it comes to it. */
async function lookUntilShown(keys: Keys): Promise<TypingFacts> {
  for (let looks = 1; ; looks += 1) {
    await keys.pause(EVERY_MS);
    const facts = await keys.look();
    const composer = readComposer(facts.pane);
    if (looks === LOOKS || (composer.is === 'there' && composer.text !== '')) return facts;
  }
}

function leftThere(): Fault {
  const what = `"${TYPED_WORDS}" was typed and not sent, for the pane shows something else now: send or remove it there`;
  return new Fault('exec-failed', what, { is: 'machine', key: 'tmux' });
}
