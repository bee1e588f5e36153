import type { PersonaWire } from '../app/status/wire.ts';
import { displayName } from '../core/format/index.ts';
import { getPart } from './dom.ts';
import type { PersonaActions } from './persona-actions.ts';
import { truncate } from './present.ts';

/** Where a person writes to the agent of an inbox, as themselves. */
export interface ReplyForm {
  draw(persona: PersonaWire): void;
  /** Writes to one message from now on, which its own system calls `name`. */
  answerMessage(name: string): void;
}

/** A program that sends it may take 30 s. */
const WITHIN_MS = 40_000;
const NAME_CHARS = 60;

/** @param form is shown where the inbox takes replies; what was written in it stays until it was sent */
export function startReply(form: HTMLFormElement, acts: PersonaActions): ReplyForm {
  const fieldset = getPart<HTMLFieldSetElement>(form, 'fieldset');
  const written = getPart<HTMLTextAreaElement>(form, 'textarea');
  const target = getPart(form, '.target');
  const drop = getPart<HTMLButtonElement>(form, '.drop');
  let persona: string | null = null;
  let message: string | null = null;

  const answer = (name: string | null): void => {
    message = name;
    target.textContent = name === null ? 'Reply as you' : `Reply as you to ${truncate(displayName(name), NAME_CHARS)}`;
    drop.hidden = name === null;
  };
  const send = async (): Promise<void> => {
    if (persona === null || written.value.trim() === '' || fieldset.disabled) {
      written.focus();
      return;
    }
    const params = { persona, text: written.value, ...(message === null ? {} : { message }) };
    fieldset.disabled = true; // a second click sends nothing
    const isSent = await acts.run('reply', params, formatResult, WITHIN_MS);
    fieldset.disabled = false;
    if (isSent) {
      written.value = '';
      answer(null);
    }
    if (document.activeElement === document.body) written.focus(); // a disabled control lost it
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void send();
  });
  written.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  drop.addEventListener('click', () => {
    answer(null);
    written.focus();
  });
  answer(null);
  return {
    draw({ id, canReply }) {
      persona = id;
      form.hidden = !canReply;
    },
    answerMessage(name) {
      answer(name);
      written.focus();
    },
  };
}

/** What is known of how far it came, as its source says it. */
function formatResult(result: unknown): string {
  const { says } = (result ?? {}) as { readonly says?: unknown };
  const text = typeof says === 'string' ? displayName(says) : 'sent';
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
