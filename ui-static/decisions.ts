import type { DecisionWire, StatusWire } from '../app/status/wire.ts';
import { cloneTemplate, fillSlots, getById, getPart, setAttribute } from './dom.ts';
import { addKeys } from './keyboard.ts';
import { toAskingCard, toFragment } from './present.ts';
import { formatOutcome, type QuestionForm, startQuestion } from './question.ts';
import { ask, createTokenButton, hasToken, TokenNeededError } from './token.ts';

/**
 * Shows what agents ask of people, oldest first. Each decision keeps its article element as long as it is shown, so that neither
 * focus nor typed text is lost. One that is over stays for a while and shows its result.
 */
export interface DecisionsPanel {
  draw(status: StatusWire, now: number): void;
  /** Shows the decisions of one persona at this place; with null all of them, at their usual place. */
  showIn(place: HTMLElement | null, fragment: string | null): void;
  /** Called when the person entered a token. */
  tokenCame(): void;
}

interface DecisionEntry {
  readonly id: number;
  readonly article: HTMLElement;
  fragment: string | null;
  question: QuestionForm | null;
  /** When it ended; null while it is open, as far as is known. */
  overAt: number | null;
}

/** This many are shown at first, and in addition those that are urgent or block an agent. */
const FIRST = 6;
const LIMIT = 1000;
const LIMIT_OVER = 100;
const TIMEOUT_MS = 5000;
/** The wait before the next request after a failure, or after an answer that lacked some decisions. */
const AGAIN_MS = 5000;
const LINGER_MS = 15_000;

export function startDecisionsPanel(needToken: () => void): DecisionsPanel {
  const section = getById('decisions');
  const list = getById('asked');
  const words = getById('decisions-words');
  const moreButton = getById('more-asked');
  const home = section.parentElement;
  const after = section.previousElementSibling;
  const entries = new Map<string, DecisionEntry>();
  const requestedKeys = new Set<string>();
  let againAt = 0;
  let only: string | null = null;
  let isExpanded = false;
  let redraw = (): void => {};

  for (const article of list.querySelectorAll<HTMLElement>('.decision')) enter(article.dataset.key ?? '', article);
  moreButton.addEventListener('click', () => {
    isExpanded = true;
    redraw();
  });

  addKeys('Questions', [
    { keys: 'q', words: 'Go to the next question', run: focusNext },
    { keys: '1-9', words: 'Choose an option of the question', run: () => false },
    { keys: 'a', words: 'Write a note to the question', run: () => false },
  ]);

  /** Returns false when there is no question. */
  function focusNext(): boolean {
    const shown = [...list.querySelectorAll<HTMLElement>('.decision:not([hidden])')];
    const at = shown.findIndex((article) => article.contains(document.activeElement));
    const next = shown[(at + 1) % shown.length];
    next?.querySelector('h3')?.focus();
    return next !== undefined;
  }

  function enter(key: string, article: HTMLElement): DecisionEntry {
    const entry: DecisionEntry = {
      id: Number.parseInt(key, 10),
      article,
      fragment: null,
      question: null,
      overAt: null,
    };
    setAttribute(article, 'data-key', key);
    entries.set(key, entry);
    return entry;
  }

  function say({ article }: DecisionEntry, text: string, shape: 'well' | 'not'): void {
    const line = getPart(article, '.said');
    line.dataset.look = shape;
    line.textContent = text;
  }

  function over(entry: DecisionEntry, text: string, shape: 'well' | 'not'): void {
    const hadFocus = entry.article.contains(document.activeElement);
    entry.overAt = performance.now();
    entry.article.dataset.flags = 'over';
    entry.question?.[Symbol.dispose]();
    say(entry, text, shape);
    if (entry.question?.isWritten === true) getPart(entry.article, '.said').after(createDismissButton(entry));
    if (hadFocus && !entry.article.contains(document.activeElement)) getPart(entry.article, 'h3').focus();
  }

  function createDismissButton({ article }: DecisionEntry): HTMLElement {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = 'Dismiss';
    button.addEventListener('click', () => leave(article.dataset.key ?? ''));
    return button;
  }

  function leave(key: string): void {
    const entry = entries.get(key);
    if (entry === undefined) return;
    entries.delete(key);
    const hadFocus = entry.article.contains(document.activeElement);
    const next = entry.article.nextElementSibling ?? entry.article.previousElementSibling;
    entry.article.remove();
    if (hadFocus) next?.querySelector('h3')?.focus();
  }

  /** Loads the text of those that have none yet. */
  async function load(keys: readonly string[]): Promise<void> {
    for (const key of keys) requestedKeys.add(key);
    againAt = performance.now() + AGAIN_MS;
    try {
      for (const decision of await fetchDecisions(`state=open&limit=${LIMIT}`)) {
        const entry = entries.get(`${decision.id}@${decision.created}`);
        if (entry === undefined || entry.question !== null || entry.overAt !== null) continue;
        entry.question = startQuestion(decision, {
          article: entry.article,
          needToken,
          say: (text, shape) => say(entry, text, shape),
          over: (now, isOurs) =>
            over(entry, `${isOurs ? '' : 'Too late. '}${formatOutcome(now)}`, isOurs ? 'well' : 'not'),
        });
      }
    } catch (error) {
      if (!(error instanceof TokenNeededError))
        note(`Could not be loaded: ${error instanceof Error ? error.message : error}`);
      return;
    }
    redraw();
  }

  /** Shows the result of decisions that ended without an answer from this page. */
  async function tell(closedEntries: readonly DecisionEntry[]): Promise<void> {
    for (const [persona, members] of Map.groupBy(closedEntries, ({ question }) => question?.persona ?? '')) {
      for (const entry of members) entry.overAt = performance.now();
      let known: readonly DecisionWire[] = [];
      try {
        const query = new URLSearchParams({ state: 'all', persona, limit: String(LIMIT_OVER) });
        known = await fetchDecisions(query.toString());
      } catch {
        // that it is over is shown all the same
      }
      for (const entry of members) {
        const decision = known.find(({ id, created }) => entry.article.dataset.key === `${id}@${created}`);
        if (decision?.state === 'open' && entry.question?.isWritten !== true) leave(entry.article.dataset.key ?? '');
        else over(entry, decision === undefined ? 'Answered or cancelled.' : formatOutcome(decision), 'not');
      }
    }
  }

  function note(text: string): void {
    if (words.textContent !== text) words.textContent = text;
  }

  function noteToken(): void {
    if (hasToken()) note('');
    if (hasToken() || words.querySelector('button') !== null) return;
    words.replaceChildren('Enter the token to see and answer questions. ', createTokenButton(needToken));
  }

  /** Removes decisions that are over: at once if their question was never shown, otherwise after their result could be read. */
  function removeClosed(open: ReadonlySet<string>): void {
    const closedEntries: DecisionEntry[] = [];
    for (const [key, entry] of entries) {
      if (open.has(key)) continue;
      const { question, overAt, article } = entry;
      if (question === null) leave(key);
      else if (overAt === null) {
        if (!question.isGoing) closedEntries.push(entry);
      } else if (
        performance.now() - overAt > LINGER_MS &&
        !question.isWritten &&
        !article.matches(':hover, :focus-within')
      )
        leave(key);
    }
    if (closedEntries.length > 0) void tell(closedEntries);
  }

  function draw(status: StatusWire, now: number): void {
    redraw = () => draw(status, Date.now());
    const open = new Set<string>();
    for (const decision of status.decisions) {
      const { key, flags, fragment, slots } = toAskingCard(decision, status.personas, now);
      open.add(key);
      const entry = entries.get(key) ?? enter(key, cloneTemplate('decision'));
      entry.fragment = fragment ?? toFragment(decision.persona);
      if (entry.overAt !== null) continue; // this page knows it before the board does
      setAttribute(entry.article, 'data-flags', flags);
      const link = getPart<HTMLAnchorElement>(entry.article, 'h3 a');
      if (fragment === null) link.removeAttribute('href');
      else setAttribute(link, 'href', `#persona=${fragment}`);
      fillSlots(entry.article, slots);
      entry.question?.drawTimes(now);
    }
    removeClosed(open);
    const order = [...entries.values()].sort((a, b) => a.id - b.id);
    for (const [i, { article }] of order.entries()) {
      if (list.children[i] !== article) list.insertBefore(article, list.children[i] ?? null);
    }
    let shownCount = 0;
    let folded = 0;
    for (const { article, fragment, question, overAt } of order) {
      const isHere = only === null || fragment === only;
      const presses = article.dataset.flags !== '' || overAt !== null;
      const isFolded = isHere && !isExpanded && shownCount >= FIRST && !presses && question?.isWritten !== true;
      if (isFolded) folded += 1;
      else if (isHere) shownCount += 1;
      article.hidden = !isHere || isFolded;
    }
    moreButton.hidden = folded === 0;
    const showMore = `Show ${folded} more`;
    if (moreButton.textContent !== showMore) moreButton.textContent = showMore;
    const missing = [...entries].flatMap(([key, { question }]) => (question === null ? [key] : []));
    if (!hasToken() || missing.length === 0) noteToken();
    else if (performance.now() >= againAt || missing.some((key) => !requestedKeys.has(key))) void load(missing);
  }

  return {
    draw,
    showIn(place, fragment) {
      only = fragment;
      if (place !== null) place.append(section);
      else if (after !== null) after.after(section);
      else home?.prepend(section);
      redraw();
    },
    tokenCame() {
      againAt = 0;
      redraw();
    },
  };
}

/** @throws TokenNeededError, RefusalError */
async function fetchDecisions(query: string): Promise<readonly DecisionWire[]> {
  const answer = await ask(`/api/v1/decisions?${query}`, AbortSignal.timeout(TIMEOUT_MS));
  return ((await answer.json()) as { decisions: readonly DecisionWire[] }).decisions;
}
