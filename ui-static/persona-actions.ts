import type { PersonaWire } from '../app/status/wire.ts';
import { hasToken, runAction, TokenNeededError } from './token.ts';

/** The actions on one inbox, each by `POST /api/v1/actions/NAME`. */
export interface PersonaActions {
  /** Shows the actions that its current state allows. */
  draw(persona: PersonaWire): void;
  /**
   * Runs an action and shows the result. `done` is the text for success. Returns false when it was not done. `withinMs` is for an
   * action that may take long.
   */
  run(name: string, params: object, done: PersonaAction['done'], withinMs?: number): Promise<boolean>;
}

interface PersonaAction {
  readonly key: string;
  readonly title: string;
  readonly name: string;
  readonly params: object;
  /** The text for success, or a function that makes it from the answer. */
  readonly done: string | ((result: unknown) => string);
  readonly main?: boolean;
}

export function startPersonaActions(place: HTMLElement, words: HTMLElement, needToken: () => void): PersonaActions {
  const buttons = new Map<string, HTMLButtonElement>();
  const showResult = (text: string, shape: 'well' | 'not'): void => {
    words.dataset.look = shape;
    words.textContent = text;
  };
  const run: PersonaActions['run'] = async (name, params, done, withinMs) => {
    if (!hasToken()) {
      showResult('Enter the token first.', 'not');
      needToken();
      return false;
    }
    try {
      const result = await runAction(name, params, withinMs);
      showResult(typeof done === 'string' ? done : done(result), 'well');
      return true;
    } catch (error) {
      if (error instanceof TokenNeededError) needToken();
      showResult(error instanceof TokenNeededError ? 'Enter the token first.' : `Failed: ${formatError(error)}`, 'not');
      return false;
    }
  };
  const createButton = (action: PersonaAction): HTMLButtonElement => {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = action.title;
    if (action.main === true) button.className = 'main';
    button.addEventListener('click', async () => {
      button.setAttribute('aria-busy', 'true');
      await run(action.name, action.params, action.done);
      button.removeAttribute('aria-busy');
    });
    return button;
  };
  return {
    run,
    draw(persona) {
      const actions = listActions(persona);
      const keys = new Set(actions.map(({ key }) => key));
      for (const [key, button] of buttons) {
        if (keys.has(key)) continue;
        // a person who just pressed this button keeps a place to go on from
        if (document.activeElement === button) place.querySelector('button')?.focus();
        button.remove();
        buttons.delete(key);
      }
      for (const [i, action] of actions.entries()) {
        const button = buttons.get(action.key) ?? createButton(action);
        buttons.set(action.key, button);
        if (place.children[i] !== button) place.insertBefore(button, place.children[i] ?? null);
      }
    },
  };
}

function listActions(persona: PersonaWire): readonly PersonaAction[] {
  const target = { persona: persona.id };
  const muted = persona.muted !== null;
  const actions: readonly (PersonaAction | null)[] = [
    { key: 'open', title: 'Open session', name: 'open', params: target, done: formatOpened, main: true },
    { key: 'poll', title: 'Poll now', name: 'poll', params: target, done: 'Polling.' },
    persona.canMarkRead && (persona.unread ?? 0) > 0
      ? { key: 'read', title: 'Mark all as read', name: 'read', params: target, done: 'Marked as read.' }
      : null,
    ...(muted
      ? [{ key: 'unmute', title: 'Unmute', name: 'unmute', params: target, done: 'Unmuted.' }]
      : [
          {
            key: 'hour',
            title: 'Mute 1 h',
            name: 'mute',
            params: { ...target, minutes: 60 },
            done: 'Muted for an hour.',
          },
          {
            key: 'tomorrow',
            title: 'Mute until tomorrow',
            name: 'mute',
            params: { ...target, until: 'tomorrow' },
            done: 'Muted until tomorrow.',
          },
          { key: 'ever', title: 'Mute until unmuted', name: 'mute', params: target, done: 'Muted until unmuted.' },
        ]),
    persona.hidden
      ? { key: 'unhide', title: 'Show again', name: 'unhide', params: target, done: 'Shown again.' }
      : { key: 'hide', title: 'Hide', name: 'hide', params: target, done: 'Hidden. The filter Hidden shows it.' },
  ];
  return actions.filter((action) => action !== null);
}

/** Formats what `open` reports that it opened. */
function formatOpened(result: unknown): string {
  switch ((result as { readonly opened?: unknown } | null)?.opened) {
    case 'page':
      return 'No session is known, so its page was opened.';
    case 'none':
      return 'The session is opening.';
    default:
      return 'Session opened.';
  }
}

function formatError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
