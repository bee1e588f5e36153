import type { DecisionWire } from '../app/status/wire.ts';
import { displayName, displayText, formatDefaultChoice } from '../core/format/index.ts';
import { cloneTemplate, getPart } from './dom.ts';
import { truncate } from './present.ts';
import { hasToken, RefusalError, runAction, TokenNeededError } from './token.ts';

/** The question of a decision and the ways to answer it, in its article element. All text in it is untrusted. */
export interface QuestionForm extends Disposable {
  /** The persona that asked, by its name in decisions. */
  readonly persona: string;
  /** Whether something was written that was not sent with an answer. */
  readonly isWritten: boolean;
  readonly isGoing: boolean;
  /** Updates the times it shows. */
  drawTimes(now: number): void;
}

export interface QuestionHost {
  readonly article: HTMLElement;
  needToken(): void;
  /** Shows this text for now. */
  say(words: string, shape: 'well' | 'not'): void;
  /** Called when it was answered, here or by somebody who was faster. */
  over(decision: DecisionWire, isOurs: boolean): void;
}

interface ReplyParams {
  readonly select?: string;
  readonly text?: string;
  readonly acceptGuidance?: true;
}

/** The number of options that a digit chooses. */
const KEYS = 9;
const PROMPT_CHARS = 4000;
const CONTEXT_CHARS = 16_000;
/** A context that is longer, or has more lines, is folded. */
const FOLDED = { chars: 240, lines: 3 } as const;

export function startQuestion(decision: DecisionWire, host: QuestionHost): QuestionForm {
  const { id, options, freeText, iteration, mostIterations } = decision;
  const { article } = host;
  const fieldset = cloneTemplate('question') as HTMLFieldSetElement;
  const written = getPart<HTMLTextAreaElement>(fieldset, 'textarea');
  let isGoing = false;
  const defaultNote = document.createElement('small');
  const drawTimes = (now: number): void => {
    const text = formatDefaultChoice(decision.expires === null ? null : Date.parse(decision.expires), now) ?? '';
    if (defaultNote.textContent !== text) defaultNote.textContent = text;
  };
  drawTimes(Date.now());

  const answer = async (reply: ReplyParams): Promise<void> => {
    if (!hasToken()) {
      host.say('Enter the token to answer.', 'not');
      host.needToken();
      return;
    }
    const focused = document.activeElement;
    const goesOnAt = (element: Element | null): void => {
      // a disabled control loses the focus; if the person went elsewhere in the meantime, the focus stays there
      const isLost = document.activeElement === document.body || article.contains(document.activeElement);
      if (isLost && article.contains(focused) && element instanceof HTMLElement) element.focus();
    };
    isGoing = true;
    host.say('', 'well');
    fieldset.disabled = true; // a second click does nothing
    try {
      const result = (await runAction('decide', { decision: id, ...reply })) as {
        accepted: boolean;
        decision: DecisionWire;
      };
      isGoing = false;
      if (result.accepted) written.value = '';
      goesOnAt(article.querySelector('h3'));
      host.over(result.decision, result.accepted);
    } catch (error) {
      isGoing = false;
      fieldset.disabled = false;
      goesOnAt(focused);
      host.say(formatFailure(error), 'not');
      if (error instanceof TokenNeededError) host.needToken();
    }
  };

  getPart(article, '.prompt').textContent = truncate(displayText(decision.prompt), PROMPT_CHARS);
  const before = getPart(fieldset, '.before');
  before.hidden = decision.guidance === null;
  before.textContent = `Asked again (${iteration} of ${mostIterations}) after this note: ${displayText(decision.guidance ?? '')}`;
  const context = getPart<HTMLDetailsElement>(fieldset, '.context');
  const known = displayText(decision.context ?? '');
  context.hidden = known === '';
  context.open = known.length <= FOLDED.chars && known.split('\n').length <= FOLDED.lines;
  getPart(context, 'p').textContent = truncate(known, CONTEXT_CHARS);

  const getNotes = (): ReplyParams => (written.value.trim() === '' ? {} : { text: written.value });
  getPart(fieldset, '.options').append(
    ...options.map((option, i) => {
      const button = document.createElement('button');
      button.type = 'button';
      const label = document.createElement('bdi');
      label.textContent = displayText(option.label);
      if (i < KEYS) {
        button.append(createKeyHint(String(i + 1)));
        button.setAttribute('aria-keyshortcuts', String(i + 1));
      }
      button.append(label);
      if (option.id === decision.default) button.append(' ', defaultNote);
      button.addEventListener('click', () => void answer({ select: option.id, ...getNotes() }));
      return button;
    }),
  );

  const own = getPart<HTMLFormElement>(fieldset, '.own');
  const isLast = !freeText && iteration >= mostIterations;
  const label = getPart(own, 'label > span');
  label.textContent =
    options.length === 0 ? 'Your answer' : freeText ? 'Your answer, or a note to a choice' : 'Note to your choice';
  getPart(own, 'button').textContent = freeText
    ? 'Answer'
    : isLast
      ? 'Close with this note'
      : 'Ask again with this note';
  own.addEventListener('submit', (event) => {
    event.preventDefault();
    if (written.value.trim() === '') {
      host.say(freeText ? 'Write an answer first.' : 'Write a note first.', 'not');
      written.focus();
      return;
    }
    void answer({ text: written.value, ...(isLast ? { acceptGuidance: true } : {}) });
  });
  written.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) own.requestSubmit();
  });
  getPart(article, '.said').before(fieldset);

  /** A digit chooses an option, and `a` goes to the note, while the focus is in this question. */
  const handleKey = (event: KeyboardEvent): void => {
    if (event.target === written || event.ctrlKey || event.metaKey || event.altKey) return;
    const option = /^[1-9]$/.test(event.key) ? options[Number(event.key) - 1] : undefined;
    if (option === undefined && event.key !== 'a') return;
    event.preventDefault();
    event.stopPropagation();
    if (option === undefined) written.focus();
    else if (!fieldset.disabled) void answer({ select: option.id, ...getNotes() });
  };
  article.addEventListener('keydown', handleKey);

  return {
    persona: decision.persona,
    drawTimes,
    get isWritten() {
      return written.value.trim() !== '';
    },
    get isGoing() {
      return isGoing;
    },
    [Symbol.dispose]: () => {
      article.removeEventListener('keydown', handleKey);
      if (written.value.trim() === '') fieldset.remove();
      else {
        // what was written can still be read and copied
        written.readOnly = true;
        label.textContent = 'Not sent';
        fieldset.disabled = false;
        for (const other of [...fieldset.children]) if (other !== own) other.remove();
        getPart(own, 'button').remove();
      }
    },
  };
}

function createKeyHint(key: string): HTMLElement {
  const hint = document.createElement('kbd');
  hint.ariaHidden = 'true';
  hint.textContent = key;
  return hint;
}

/** Formats the result of a decision. */
export function formatOutcome({ state, choice, text, by, next, options }: DecisionWire): string {
  const chosen = choice === null ? null : displayText(options.find(({ id }) => id === choice)?.label ?? choice);
  const words = text === null ? '' : truncate(displayText(text), 600);
  const whom = displayName(by ?? '');
  switch (state) {
    case 'open':
      return 'Still open, but no longer shown here.';
    case 'timed-out':
      return 'Not answered in time.';
    case 'cancelled':
      return `Cancelled by ${whom}${words === '' ? '.' : `: ${words}`}`;
    case 'resolved':
      if (next !== null) return `${whom} had it asked again: ${words}`;
      if (by === null) return `Not answered in time. Chosen by itself: ${chosen}`;
      if (chosen === null) return `Answered by ${whom}: ${words}`;
      return `Answered by ${whom}: ${chosen}${words === '' ? '' : `\nNote: ${words}`}`;
  }
}

function formatFailure(error: unknown): string {
  if (error instanceof TokenNeededError) return 'Enter the token to answer.';
  if (error instanceof RefusalError) return `Failed: ${error.message}`;
  const why = error instanceof Error ? error.message : String(error);
  return `No reply (${why}). Your answer may have arrived. You can safely send it again.`;
}
