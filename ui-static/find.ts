import type { PersonaWire, StatusWire } from '../app/status/wire.ts';
import { displayLine } from '../core/format/index.ts';
import { getById } from './dom.ts';
import { FILTERS, type Filter, type FilterQuery, isInFilter, isMatch } from './filter.ts';
import { type GroupItem, type ListItem, listInboxes, SORTS, type Sort } from './inbox-order.ts';
import { addKeys } from './keyboard.ts';
import type { InboxList, MoveDirection } from './list.ts';
import { truncate } from './present.ts';
import { formatSearch } from './route.ts';
import { browserStorage } from './token.ts';

/** What a person chose to see of the overview: search, filter and order, and which groups are closed. All but the search is kept in this browser. */
export interface InboxFinder {
  /** Returns who matches. The filters show how many each has. */
  match(personas: readonly PersonaWire[]): readonly PersonaWire[];
  /** Returns these in their order. */
  order(matches: readonly PersonaWire[], status: StatusWire): readonly ListItem[];
  toggle(group: GroupItem): void;
}

const KEY = 'hivebar-overview';
/** Groups of sources that are gone stay stored, so the oldest are dropped. */
const MOST_TOGGLED = 200;

interface Choice {
  filter: Filter;
  sort: Sort;
  /** Groups that the person opened or closed, other than they are at first. */
  toggled: readonly string[];
}

export function startInboxFinder(getList: () => InboxList, changed: () => void): InboxFinder {
  const search = getById('search') as HTMLInputElement;
  const sort = getById('sort') as HTMLSelectElement;
  const choice = loadChoice();
  const buttons = FILTERS.map((name) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.addEventListener('click', () => choose({ filter: name }));
    return [name, button] as const;
  });
  getById('filters').append(...buttons.map(([, button]) => button));
  sort.value = choice.sort;
  sort.addEventListener('change', () => choose({ sort: SORTS.find((name) => name === sort.value) ?? 'need' }));
  search.addEventListener('input', changed);
  const mailLink = document.createElement('a');
  mailLink.hidden = true;
  getById('find').append(mailLink);

  function choose(next: Partial<Choice>): void {
    Object.assign(choice, next);
    browserStorage.setItem(KEY, JSON.stringify(choice));
    changed();
  }

  /** Empties the search and shows all. Returns false when there was nothing to undo. */
  function reset(): boolean {
    const isAll = search.value === '' && choice.filter === 'all';
    search.value = '';
    if (!isAll) choose({ filter: 'all' });
    return !isAll;
  }

  search.addEventListener('keydown', (event) => {
    const { key } = event;
    if (key === 'Escape') reset() || search.blur();
    else if (key === 'Enter') getList().openFirst();
    else if (key !== 'ArrowDown' || !getList().move('down')) return;
    event.preventDefault();
  });
  const isOverview = (): boolean => !getById('overview').hidden;
  const move = (way: MoveDirection) => () => isOverview() && (getList().move(way) || (way === 'up' && focusSearch()));
  const focusSearch = (): boolean => {
    search.focus();
    search.select();
    return true;
  };
  const isInList = (): boolean => document.activeElement?.closest('#personas > *') !== null;
  addKeys('Inboxes', [
    { keys: '/', words: 'Search', run: () => isOverview() && focusSearch() },
    { keys: 'j', words: 'Next inbox', run: move('right') },
    { keys: 'k', words: 'Previous inbox', run: move('left') },
    ...(['up', 'down', 'left', 'right'] as const).map((way) => ({
      keys: `Arrow${way[0]?.toUpperCase()}${way.slice(1)}`,
      words: null,
      // without a focused card the page scrolls
      run: () => (isInList() || way === 'right' || document.activeElement === document.body) && move(way)(),
    })),
    { keys: 'Enter', words: 'Open', run: () => false },
    { keys: 'Escape', words: 'Back, or show all inboxes', run: () => isOverview() && reset() },
  ]);

  return {
    match(personas) {
      for (const [name, button] of buttons) {
        const count = personas.filter((persona) => isInFilter(persona, name)).length;
        const words = `${name[0]?.toUpperCase()}${name.slice(1)} ${count}`;
        if (button.textContent !== words) button.textContent = words;
        button.hidden = name !== 'all' && name !== choice.filter && count === 0;
        button.setAttribute('aria-pressed', String(name === choice.filter));
      }
      const query: FilterQuery = { filter: choice.filter, text: search.value.slice(0, 200) };
      const matches = personas.filter((persona) => isMatch(persona, query));
      const nothing = getById('nothing');
      const words = matches.length > 0 || personas.length === 0 ? '' : 'No inbox matches. Press Escape to show all.';
      const asked = search.value.trim();
      mailLink.hidden = asked === '';
      mailLink.href = formatSearch(asked);
      mailLink.textContent = `Search messages for “${truncate(displayLine(asked), 60)}”`;
      nothing.hidden = words === '';
      if (nothing.textContent !== words) nothing.textContent = words;
      return matches;
    },
    order(matches, status) {
      const isOpen = (source: string, folds: boolean): boolean =>
        search.value.trim() !== '' || choice.toggled.includes(toGroupKey(source, folds)) === folds;
      return listInboxes(matches, status, { sort: choice.sort, isOpen });
    },
    toggle({ source, folds }) {
      const key = toGroupKey(source, folds);
      const others = choice.toggled.filter((name) => name !== key);
      choose({ toggled: (others.length < choice.toggled.length ? others : [...others, key]).slice(-MOST_TOGGLED) });
    },
  };
}

/** A hive that is down is closed at first, another open, so each is remembered by itself. */
const toGroupKey = (source: string, folds: boolean): string => `${folds ? 'down' : 'up'} ${source}`;

function loadChoice(): Choice {
  try {
    const { filter, sort, toggled } = JSON.parse(browserStorage.getItem(KEY) ?? '{}') as Partial<
      Record<string, unknown>
    >;
    return {
      filter: FILTERS.find((name) => name === filter) ?? 'all',
      sort: SORTS.find((name) => name === sort) ?? 'need',
      toggled: Array.isArray(toggled) ? toggled.filter((name) => typeof name === 'string') : [],
    };
  } catch {
    return { filter: 'all', sort: 'need', toggled: [] }; // written by another version or by hand
  }
}
