import type { SheetRow } from './sheet.ts';
import { act, TokenNeeded } from './token.ts';

/**
 * What a person can have done to an item of a project, by brainclaw. Nothing is shown as done before the board shows it: a
 * row says that it was asked for, and goes when the journal has it.
 */
export interface Deeds {
  /** Gives a row its buttons, or takes them away. */
  draw(element: HTMLElement, row: SheetRow): void;
}

interface Deed {
  readonly name: 'accept' | 'reject' | 'resolve';
  readonly title: string;
}

interface Said {
  readonly is: 'asking' | 'taken' | 'not';
  readonly words: string;
}

const REJECT: Deed = { name: 'reject', title: 'Reject' };
const OF: Readonly<Record<string, readonly [Deed, Deed]>> = {
  candidate: [{ name: 'accept', title: 'Accept' }, REJECT],
  state: [{ name: 'resolve', title: 'Resolve' }, REJECT],
};
/** Asked for in words, so it is answered in words. */
const TAKES_WORDS = 'state';
const TEXT_CHARS = 10_000;

export function startDeeds(project: string, needToken: () => void): Deeds {
  /** By item, so that it is the same in each section that shows it. */
  const said = new Map<string, Said>();
  const shown = new Map<string, Set<HTMLElement>>();

  function tell(item: string, now: Said): void {
    said.set(item, now);
    for (const form of shown.get(item) ?? []) {
      if (form.isConnected) show(form, now);
      else shown.get(item)?.delete(form);
    }
  }

  async function ask(item: string, deed: Deed, text: string): Promise<void> {
    if (said.get(item)?.is === 'asking') return;
    tell(item, { is: 'asking', words: `${deed.title}: asking brainclaw …` });
    try {
      await act('brainclaw', { project, do: deed.name, item, ...(text === '' ? {} : { text }) });
      tell(item, { is: 'taken', words: `${deed.title}: brainclaw took it; the journal has no record of it yet.` });
    } catch (error) {
      if (error instanceof TokenNeeded) needToken();
      const why = error instanceof Error ? error.message : String(error);
      const words = error instanceof TokenNeeded ? 'The token is needed for this.' : `Not done: ${why}`;
      tell(item, { is: 'not', words });
    }
  }

  return {
    draw(element, { key, itemType, status, title }) {
      const deeds = status === 'pending' ? OF[itemType] : undefined;
      const there = element.querySelector<HTMLElement>('.deeds');
      if (deeds === undefined) {
        there?.remove();
        said.delete(key); // what was asked for is so; should it be open again, it is asked anew
        return;
      }
      if (there !== null) return;
      const form = formOf(deeds, itemType === TAKES_WORDS, title, (deed, text) => void ask(key, deed, text));
      element.append(form);
      const forms = shown.get(key) ?? new Set();
      shown.set(key, forms.add(form));
      const before = said.get(key);
      if (before !== undefined) show(form, before);
    },
  };
}

function show(form: HTMLElement, { is, words }: Said): void {
  for (const control of form.querySelectorAll<HTMLButtonElement | HTMLInputElement>('button, input')) {
    control.disabled = is !== 'not';
  }
  const line = form.querySelector<HTMLElement>('.said');
  if (line === null) return;
  line.dataset.look = is === 'not' ? 'not' : 'well';
  line.textContent = words;
}

function formOf(
  deeds: readonly [Deed, Deed],
  takesWords: boolean,
  title: string,
  ask: (deed: Deed, text: string) => void,
): HTMLElement {
  const form = document.createElement('form');
  form.className = 'deeds';
  const input = takesWords ? document.createElement('input') : null;
  if (input !== null) {
    input.maxLength = TEXT_CHARS;
    input.placeholder = 'Answer, if it asks for one';
    input.autocomplete = 'off';
    input.dir = 'auto';
    input.setAttribute('aria-label', `Answer to: ${title}`);
    form.append(input);
  }
  const buttons = deeds.map((deed, i) => {
    const button = document.createElement('button');
    button.type = i === 0 ? 'submit' : 'button';
    button.textContent = deed.title;
    button.setAttribute('aria-label', `${deed.title}: ${title}`);
    if (i > 0) button.addEventListener('click', () => ask(deed, input?.value ?? ''));
    return button;
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    ask(deeds[0], input?.value ?? '');
  });
  const line = document.createElement('p');
  line.className = 'said';
  line.setAttribute('role', 'status');
  form.append(...buttons, line);
  return form;
}
