import { displayName } from '../../core/format/index.ts';
import type { StatusPersona } from './status-json.ts';

/** What a person sees of the list, and where they are in it. */
export interface TopView {
  readonly columns: number;
  readonly rows: number;
  readonly hasColor: boolean;
  /** Whether the running program stopped answering. */
  readonly isGone: boolean;
  readonly mode: 'list' | 'filter' | 'help';
  /** The id of the chosen persona; null: the first one. */
  readonly selected: string | null;
  readonly filter: string;
  /** What the last key did; empty for nothing. */
  readonly note: string;
  /** What is asked before it is done; null for nothing. */
  readonly question: { readonly text: string; readonly action: TopAction } | null;
}

/** What the running program is asked for. */
export interface TopAction {
  readonly name: 'open' | 'page' | 'read';
  readonly persona: string;
}

/** The keys that the help shows. */
export const TOP_KEYS = [
  ['j, k, arrows', 'move by one; PgUp and PgDn by ten, g and G to the ends'],
  ['Enter', 'open the session, or the page where there is none'],
  ['n', 'go to the next persona that needs you'],
  ['o', 'open the page of the persona'],
  ['m', 'mark its messages as read, once it asked'],
  ['/', 'show only names that hold what you type; Esc shows all'],
  ['?', 'these keys'],
  ['q', 'quit'],
] as const;

/** What a key leads to: another view, and what is to be done. */
export interface TopStep {
  readonly view: TopView;
  readonly action: TopAction | 'quit' | null;
}

/** A persona of the list, and whether it needs the person. */
export interface TopEntry {
  readonly persona: Pick<StatusPersona, 'id' | 'unread' | 'canMarkRead'>;
  readonly isNeedy: boolean;
}

const PAGE = 10;

/**
 * Computes what a key does. Pure.
 * @param key a letter as it is typed, or a name such as `up` and `enter`
 * @param listed the personas as they are listed now
 */
export function pressKey(view: TopView, key: string, listed: readonly TopEntry[]): TopStep {
  const stay = (over: Partial<TopView>): TopStep => ({ view: { ...view, note: '', ...over }, action: null });
  if (key === 'ctrl-c') return { view, action: 'quit' };
  if (view.question !== null) {
    const action = key === 'y' ? view.question.action : null;
    return { view: { ...view, question: null, note: action === null ? 'nothing was done' : '' }, action };
  }
  if (view.mode === 'help') return stay({ mode: 'list' });
  if (view.mode === 'filter') return stay(editFilter(view, key));
  const at = Math.max(
    0,
    listed.findIndex(({ persona }) => persona.id === view.selected),
  );
  const chosen = listed[at]?.persona;
  const move = (to: number): TopStep =>
    stay({ selected: listed[Math.max(0, Math.min(listed.length - 1, to))]?.persona.id ?? null });
  const act = (name: TopAction['name']): TopStep =>
    chosen === undefined ? stay({}) : { view: { ...view, note: '' }, action: { name, persona: chosen.id } };
  switch (key) {
    case 'j':
    case 'down':
      return move(at + 1);
    case 'k':
    case 'up':
      return move(at - 1);
    case 'pagedown':
      return move(at + PAGE);
    case 'pageup':
      return move(at - PAGE);
    case 'g':
    case 'home':
      return move(0);
    case 'G':
    case 'end':
      return move(listed.length - 1);
    case 'n':
      return goToNext(listed, at, move, stay);
    case 'enter':
      return act('open');
    case 'o':
      return act('page');
    case 'm':
      return stay(askToMark(chosen));
    case '/':
      return stay({ mode: 'filter' });
    case 'escape':
      return stay({ filter: '' });
    case '?':
      return stay({ mode: 'help' });
    case 'q':
      return { view, action: 'quit' };
    default:
      return stay({});
  }
}

function editFilter({ filter }: TopView, key: string): Partial<TopView> {
  if (key === 'enter') return { mode: 'list' };
  if (key === 'escape') return { mode: 'list', filter: '' };
  if (key === 'backspace') return { filter: [...filter].slice(0, -1).join(''), selected: null };
  return [...key].length === 1 ? { filter: `${filter}${key}`, selected: null } : {};
}

/** Goes to the next persona below that needs the person, and from the last one to the first. */
function goToNext(
  listed: readonly TopEntry[],
  at: number,
  move: (to: number) => TopStep,
  stay: (over: Partial<TopView>) => TopStep,
): TopStep {
  const next = listed.findIndex(({ isNeedy }, i) => isNeedy && i > at);
  const first = listed.findIndex(({ isNeedy }) => isNeedy);
  if (first === -1) return stay({ note: 'nobody has unread mail or needs you' });
  return move(next === -1 ? first : next);
}

/** Its agent never gets what is marked as read here, so it is asked first. */
function askToMark(chosen: TopEntry['persona'] | undefined): Partial<TopView> {
  if (chosen === undefined) return {};
  if (!chosen.canMarkRead) return { note: 'its inbox cannot be marked as read from here' };
  if (chosen.unread === 0) return { note: 'it has no unread mail' };
  return {
    question: {
      text: `Mark all messages of ${displayName(chosen.id)} as read? Its agent then does not get them.`,
      action: { name: 'read', persona: chosen.id },
    },
  };
}
