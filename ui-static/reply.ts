import type { MailWire, PersonaWire } from '../app/status/wire.ts';
import { displayName } from '../core/format/index.ts';
import { createButton, createElement } from './element.ts';
import { formatSender } from './mail-row.ts';
import type { PersonaActions } from './persona-actions.ts';
import { truncate } from './present.ts';

/** Where a person writes to the agent of an inbox, as themselves. What was not sent stays, also when another inbox is shown. */
export interface ReplyForm {
  readonly element: HTMLFormElement;
  draw(persona: PersonaWire): void;
  /** Answers one message from now on. The form moves to `place`, below the message. */
  answerMessage(message: MailWire, place: HTMLElement): void;
  /** Writes to the persona. Returns false where that is not possible. */
  compose(): boolean;
}

/** A program that sends it may take 30 s. */
const WITHIN_MS = 40_000;
const NAME_CHARS = 60;
/** What was written and not sent, by the fragment of the inbox. */
const drafts = new Map<string, string>();

/** @param home where the form is while it answers no message. @param whenSent is called after each message that was sent */
export function startReply(home: HTMLElement, fragment: string, acts: PersonaActions, whenSent: () => void): ReplyForm {
  const target = createElement('span', { class: 'target', dir: 'auto' });
  const written = createElement('textarea', { rows: '1', maxlength: '100000', dir: 'auto' });
  const cancel = createButton('Cancel', () => answer(null, home), { class: 'drop' });
  const send = createElement('button', { type: 'submit' }, 'Send');
  const fieldset = createElement(
    'fieldset',
    { 'aria-label': 'Write as you' },
    createElement('label', {}, target, written),
    createElement('span', { class: 'reply-acts' }, send, cancel),
  );
  const form = createElement('form', { class: 'reply', id: 'reply', hidden: true }, fieldset);
  let persona: PersonaWire | null = null;
  let message: MailWire | null = null;

  const answer = (next: MailWire | null, place: HTMLElement): void => {
    message = next;
    cancel.hidden = next === null;
    if (form.parentElement !== place) place.append(form);
    drawTarget();
    if (next !== null || place.contains(document.activeElement)) written.focus();
  };
  const drawTarget = (): void => {
    const name = persona === null ? '' : displayName(persona.label);
    const to = message === null ? name : `${formatSender(message)}, in answer to this message`;
    target.textContent = `To ${truncate(to, NAME_CHARS + 40)}, from you`;
  };
  const submit = async (): Promise<void> => {
    if (persona === null || written.value.trim() === '' || fieldset.disabled) {
      written.focus();
      return;
    }
    const named = message?.replyTo == null ? {} : { message: message.replyTo };
    const params = { persona: persona.id, text: written.value, ...named };
    fieldset.disabled = true; // a second click sends nothing
    const isSent = await acts.run('reply', params, formatResult, { withinMs: WITHIN_MS });
    fieldset.disabled = false;
    if (isSent) {
      written.value = '';
      drafts.delete(fragment);
      answer(null, home);
      whenSent();
    }
    if (document.activeElement === document.body) written.focus(); // a disabled control lost it
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void submit();
  });
  written.value = drafts.get(fragment) ?? '';
  written.addEventListener('input', () => drafts.set(fragment, written.value));
  written.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    if (event.key !== 'Escape') return;
    event.stopPropagation(); // the inbox stays open
    const row = form.closest('li')?.querySelector('button');
    answer(null, home);
    if (row == null) written.blur();
    else row.focus();
  });
  answer(null, home);
  return {
    element: form,
    draw(now) {
      persona = now;
      form.hidden = !now.canReply;
      if (!form.isConnected)
        answer(null, home); // its message is gone
      else drawTarget();
    },
    answerMessage: answer,
    compose() {
      if (persona?.canReply !== true) return false;
      answer(null, home);
      written.focus();
      return true;
    },
  };
}

/** What is known of how far it came, as its source says it. */
function formatResult(result: unknown): string {
  const { says } = (result ?? {}) as { readonly says?: unknown };
  const text = typeof says === 'string' ? displayName(says) : 'sent';
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
