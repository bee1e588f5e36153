import {
  decideEnter,
  decideTyping,
  type PaneState,
  readComposer,
  TYPED_WORDS,
  type TypingFacts,
} from '../../core/hooks/index.ts';
import { Fault } from '../../core/model/index.ts';
import type { Clock } from '../../core/ports/index.ts';
import { checkLiveness, finishWords, pasteWords, readPane, type Session } from '../open/index.ts';
import type { ProgramEnv } from '../programs.node.ts';
import { readHarnessState } from './prompts.node.ts';
import type { Wake } from './wake-ways.ts';

export interface TmuxNeeds {
  readonly env: ProgramEnv;
  readonly os: NodeJS.Platform;
  readonly clock: Clock;
  readonly stop: AbortSignal;
}

/** Null: it is no session of Claude Code in a pane. @param isAtPrompt whether one of its agents asks its person for something */
export function createTmuxWake(session: Session, isAtPrompt: () => boolean, needs: TmuxNeeds): Wake | null {
  const { id, pane, runner, harness } = session;
  const { env, os, clock, stop } = needs;
  if (pane === null || harness?.name !== 'claude') return null;
  const keys: PaneKeys = {
    async read() {
      const paneState = await readPane(pane, runner.pid, env, os);
      const state = checkLiveness(runner, os) === 'live' ? readHarnessState(harness.home, runner.pid, id) : 'unknown';
      return { pane: paneState, isAtPrompt: isAtPrompt(), harness: state };
    },
    paste: (words, at) => pasteWords(pane, words, at, env, os),
    finish: (words, way, at) => finishWords(pane, words, way, at, env, os),
    pause: (ms) => clock.sleep(ms, stop),
  };
  return () => typeNudge(keys);
}

/** The operations on a pane that typing needs. */
interface PaneKeys {
  /** Reads all that is known now, the harness's report last. @throws Fault */
  read(): Promise<TypingFacts>;
  /** Pastes the words if the cursor is still at that position, and returns whether it did. @throws Fault */
  paste(words: string, at: PaneState['cursor']): Promise<boolean>;
  /** Does the same for the last step, and only while the words are on the screen. @throws Fault */
  finish(words: string, way: 'enter' | 'take back', at: PaneState['cursor']): Promise<boolean>;
  pause(ms: number): Promise<void>;
}

type TypingResult = { readonly is: 'nudged' } | { readonly is: 'wait'; readonly why: string };

const MAX_CHECKS = 20;
const EVERY_MS = 100;

/**
 * Types the words for an idle agent, and Enter once they are visible in its composer.
 * @throws Fault `exec-failed` when the words were left there
 */
async function typeNudge(keys: PaneKeys): Promise<TypingResult> {
  const first = await keys.read();
  const typing = decideTyping(first);
  if (typing.is === 'wait') return typing;
  if (!(await keys.paste(TYPED_WORDS, first.pane.cursor))) return { is: 'wait', why: 'the pane changed' };
  const facts = await waitUntilShown(keys);
  const way = decideEnter(facts);
  if (way === 'leave') throw createLeftoverFault();
  if (!(await keys.finish(TYPED_WORDS, way, facts.pane.cursor))) throw createLeftoverFault();
  return way === 'enter'
    ? { is: 'nudged' }
    : { is: 'wait', why: 'the agent continued while the text was typed, so the text was removed' };
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
  const message = `"${TYPED_WORDS}" was typed but not sent, because the pane now shows something else: send or remove it there`;
  return new Fault('exec-failed', message, { is: 'machine', key: 'tmux' });
}
