import type { SheetRow } from './sheet.ts';
import { runAction, TokenNeededError } from './token.ts';

/**
 * What a person can have brainclaw do to an item of a project. Nothing is shown as done before the board shows it: a row says
 * that an action was requested, and is removed when the journal has it.
 */
export interface ItemActions {
  /** Adds the buttons to a row, or removes them. */
  draw(element: HTMLElement, row: SheetRow): void;
}

interface ItemAction {
  readonly name: 'accept' | 'reject' | 'resolve';
  readonly title: string;
}

interface ActionProgress {
  readonly is: 'asking' | 'taken' | 'not';
  readonly words: string;
}

const REJECT: ItemAction = { name: 'reject', title: 'Reject' };
const ACTIONS_BY_TYPE: Readonly<Record<string, readonly [ItemAction, ItemAction]>> = {
  candidate: [{ name: 'accept', title: 'Accept' }, REJECT],
  state: [{ name: 'resolve', title: 'Resolve' }, REJECT],
};
/** Items of this type ask for an answer in words. */
const TAKES_WORDS = 'state';
const TEXT_CHARS = 10_000;

export function startItemActions(project: string, needToken: () => void): ItemActions {
  /** Stored by item, so that every section that shows the item shows the same progress. */
  const progressByItem = new Map<string, ActionProgress>();
  const formsByItem = new Map<string, Set<HTMLElement>>();

  function tell(item: string, now: ActionProgress): void {
    progressByItem.set(item, now);
    for (const form of formsByItem.get(item) ?? []) {
      if (form.isConnected) showProgress(form, now);
      else formsByItem.get(item)?.delete(form);
    }
  }

  async function ask(item: string, action: ItemAction, text: string): Promise<void> {
    if (progressByItem.get(item)?.is === 'asking') return;
    tell(item, { is: 'asking', words: `${action.title}: sent to brainclaw …` });
    try {
      await runAction('brainclaw', { project, do: action.name, item, ...(text === '' ? {} : { text }) });
      tell(item, { is: 'taken', words: `${action.title}: accepted by brainclaw, not in the journal yet.` });
    } catch (error) {
      if (error instanceof TokenNeededError) needToken();
      const why = error instanceof Error ? error.message : String(error);
      const words = error instanceof TokenNeededError ? 'Enter the token first.' : `Failed: ${why}`;
      tell(item, { is: 'not', words });
    }
  }

  return {
    draw(element, { key, itemType, status, title }) {
      const actions = status === 'pending' ? ACTIONS_BY_TYPE[itemType] : undefined;
      const existing = element.querySelector<HTMLElement>('.deeds');
      if (actions === undefined) {
        existing?.remove();
        progressByItem.delete(key); // the action has taken effect; if the item opens again, its progress starts anew
        return;
      }
      if (existing !== null) return;
      const form = createForm(actions, itemType === TAKES_WORDS, title, (action, text) => void ask(key, action, text));
      element.append(form);
      const forms = formsByItem.get(key) ?? new Set();
      formsByItem.set(key, forms.add(form));
      const before = progressByItem.get(key);
      if (before !== undefined) showProgress(form, before);
    },
  };
}

function showProgress(form: HTMLElement, { is, words }: ActionProgress): void {
  for (const control of form.querySelectorAll<HTMLButtonElement | HTMLInputElement>('button, input')) {
    control.disabled = is !== 'not';
  }
  const line = form.querySelector<HTMLElement>('.said');
  if (line === null) return;
  line.dataset.look = is === 'not' ? 'not' : 'well';
  line.textContent = words;
}

function createForm(
  actions: readonly [ItemAction, ItemAction],
  takesWords: boolean,
  title: string,
  ask: (action: ItemAction, text: string) => void,
): HTMLElement {
  const form = document.createElement('form');
  form.className = 'deeds';
  const input = takesWords ? document.createElement('input') : null;
  if (input !== null) {
    input.maxLength = TEXT_CHARS;
    input.placeholder = 'Answer, if needed';
    input.autocomplete = 'off';
    input.dir = 'auto';
    input.setAttribute('aria-label', `Answer to: ${title}`);
    form.append(input);
  }
  const buttons = actions.map((action, i) => {
    const button = document.createElement('button');
    button.type = i === 0 ? 'submit' : 'button';
    button.textContent = action.title;
    button.setAttribute('aria-label', `${action.title}: ${title}`);
    if (i > 0) button.addEventListener('click', () => ask(action, input?.value ?? ''));
    return button;
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    ask(actions[0], input?.value ?? '');
  });
  const line = document.createElement('p');
  line.className = 'said';
  line.setAttribute('role', 'status');
  form.append(...buttons, line);
  return form;
}
