import { formatFullTime } from '../core/format/index.ts';
import { arrange, cloneTemplate, fillSlots, getPart, setAttribute } from './dom.ts';
import { formatAgo } from './present.ts';
import { describeRow, getSectionName, type SheetRow, type SheetSection } from './sheet.ts';
import { browserStorage, runAction, TokenNeededError } from './token.ts';

/** A part of a project's board that can be opened and closed. Its rows are drawn while it is open. */
export interface Section {
  readonly element: HTMLElement;
  /** `withheld` means that its rows need the token. `actions` is null where nothing can be done. */
  draw(rows: SectionRows, withheld: boolean, actions: ItemActions | null): void;
}

type SectionRows = Pick<SheetSection, 'rows' | 'rest' | 'total'>;

/** The number of rows that are shown at first. */
const FIRST = 8;

/** @param load loads the rows after the first ones; null when they cannot be loaded */
export function startSection(
  project: string,
  id: string,
  load: ((from: number) => Promise<SectionRows>) | null = null,
): Section {
  const element = cloneTemplate('section') as HTMLDetailsElement;
  const list = getPart(element, '.rows');
  const moreButton = getPart<HTMLButtonElement>(element, '.more');
  let drawn = '';
  let current: SectionRows | null = null;
  let isWithheld = false;
  let currentActions: ItemActions | null = null;
  let isExpanded = false;
  let trouble: string | null = null;

  const redraw = (): void => {
    if (current === null || !element.open) return;
    const { rows, rest, total } = current;
    drawRows(list, isExpanded ? rows : rows.slice(0, FIRST), currentActions, getPart(element, 'summary'), Date.now());
    list.hidden = rows.length === 0;
    moreButton.hidden = rows.length <= FIRST;
    const isEnd = load === null || rest === 0;
    const words = !isExpanded ? `Show ${rows.length - FIRST} more` : isEnd ? 'Show fewer' : `Show more (${rest} left)`;
    if (moreButton.textContent !== words) moreButton.textContent = words;
    const left = load === null && (isExpanded || rows.length <= FIRST) ? rest : 0;
    fillSlots(element, { rest: trouble ?? formatRest(total, left, isWithheld) });
  };

  /** Loads the next page. The result is dropped if the board was drawn again in the meantime. */
  const loadNext = async (): Promise<void> => {
    const before = current;
    if (before === null || load === null) return;
    moreButton.disabled = true;
    try {
      const next = await load(before.rows.length);
      if (current !== before) return;
      current = { rows: [...before.rows, ...next.rows], rest: next.rest, total: next.total };
      trouble = null;
    } catch (error) {
      trouble = `Could not be loaded: ${error instanceof Error ? error.message : String(error)}`;
    } finally {
      moreButton.disabled = false;
      redraw();
    }
  };

  setAttribute(element, 'data-section', id);
  element.open = isOpen(project, id);
  element.addEventListener('toggle', () => {
    saveOpen(project, id, element.open);
    redraw();
  });
  moreButton.addEventListener('click', () => {
    if (isExpanded && load !== null && current !== null && current.rest > 0) {
      void loadNext();
      return;
    }
    isExpanded = !isExpanded;
    redraw();
  });
  fillSlots(element, { section: getSectionName(id), rest: null });

  return {
    element,
    draw(section, withheld, actions) {
      const now = JSON.stringify([section, withheld, actions !== null]);
      if (now === drawn) return;
      drawn = now;
      current = section;
      isWithheld = withheld;
      currentActions = actions;
      element.hidden = section.total === 0 && id !== 'attention';
      fillSlots(element, { total: String(section.total) });
      redraw();
    },
  };
}

function formatRest(total: number, rest: number, withheld: boolean): string | null {
  if (total === 0) return 'Nothing needs a person.';
  if (withheld) return 'Enter the token to see them.';
  return rest > 0 ? `and ${rest} more, not shown here` : null;
}

/** Which sections a person opened or closed, when that differs from the default. Stored in this browser. */

const KEY = 'hivebar-sections';
/** The limit for stored entries. Those of removed projects stay, so the oldest are dropped. */
const MOST = 400;
/** These sections are open by default. */
const OPEN_AT_FIRST: ReadonlySet<string> = new Set(['attention']);

function isOpen(project: string, section: string): boolean {
  return OPEN_AT_FIRST.has(section) !== loadToggled().includes(toSectionKey(project, section));
}

function saveOpen(project: string, section: string, open: boolean): void {
  if (isOpen(project, section) === open) return;
  const name = toSectionKey(project, section);
  const before = loadToggled();
  const rest = before.filter((entry) => entry !== name);
  browserStorage.setItem(KEY, JSON.stringify((rest.length < before.length ? rest : [...rest, name]).slice(-MOST)));
}

const toSectionKey = (project: string, section: string): string => `${section} ${project}`;

function loadToggled(): readonly string[] {
  try {
    const names: unknown = JSON.parse(browserStorage.getItem(KEY) ?? '[]');
    return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
  } catch {
    return []; // written by another version or by hand: treated as empty
  }
}

/**
 * Shows these rows in this order. A row that was there keeps its element, and what is already the same is not changed. `actions`
 * is null where nothing can be done. `next` gets the focus of a row that is removed.
 */
function drawRows(
  list: HTMLElement,
  rows: readonly SheetRow[],
  actions: ItemActions | null,
  next: HTMLElement,
  now: number,
): void {
  const existing = new Map([...list.children].map((child) => [child.getAttribute('data-key'), child as HTMLElement]));
  const countByKey = new Map<string, number>();
  const elements = rows.map((row) => {
    const times = countByKey.get(row.key) ?? 0; // two writers may have given the same number to two records
    countByKey.set(row.key, times + 1);
    const key = times === 0 ? row.key : `${row.key} ${times}`;
    const element = existing.get(key) ?? cloneTemplate('row');
    setAttribute(element, 'data-key', key);
    drawRow(element, row, now);
    if (actions === null) element.querySelector('.deeds')?.remove();
    else actions.draw(element, row);
    return element;
  });
  arrange(list, elements, next);
}

/** Updates the ages of the rows, which grow with time. */
export function drawAges(root: ParentNode, now: number): void {
  for (const time of root.querySelectorAll<HTMLTimeElement>('.row time[datetime]')) {
    setText(time, formatAgo(now - Date.parse(time.dateTime)));
  }
}

function drawRow(element: HTMLElement, row: SheetRow, now: number): void {
  const { type, title, text, status, people, tone, at } = describeRow(row);
  setAttribute(element, 'data-tone', tone);
  setText(getPart(element, '.type'), type);
  setText(getPart(element, '.title'), title);
  setText(getPart(element, '.text'), text ?? '');
  setText(getPart(element, '.status'), status);
  setText(getPart(element, '.for'), people ?? '');
  const time = getPart<HTMLTimeElement>(element, 'time');
  setText(time, at === null ? '' : formatAgo(now - at));
  if (at === null) time.removeAttribute('datetime');
  else {
    setAttribute(time, 'datetime', new Date(at).toISOString());
    setAttribute(time, 'title', formatFullTime(at));
  }
}

function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * What a person can have brainclaw do to an item of a project. Nothing is shown as done before the board shows it: a row says
 * that an action was requested, and is removed when the journal has it.
 */
interface ItemActions {
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
