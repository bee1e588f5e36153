import type { PersonaWire } from '../app/status/wire.ts';
import { createButton } from './element.ts';
import { hasToken, runAction, TokenNeededError } from './token.ts';
import type { UndoLine } from './undo-line.ts';

/** The actions on one inbox, each by `POST /api/v1/actions/NAME`. */
export interface PersonaActions {
  /** Shows the actions that its current state allows. */
  draw(persona: PersonaWire): void;
  /**
   * Runs an action and shows the result. `done` is the text for success. Returns false when it was not done.
   */
  run(name: string, params: object, done: PersonaAction['done'], more?: RunOptions): Promise<boolean>;
}

interface RunOptions {
  /** For an action that may take long. */
  readonly withinMs?: number;
  /** Takes it back; null where that is not possible. */
  readonly undo?: (() => unknown) | null;
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

/** @param main where the one main action is shown. @param menu where all others are */
export function startPersonaActions(
  main: HTMLElement,
  menu: HTMLElement,
  undoLine: UndoLine,
  needToken: () => void,
): PersonaActions {
  const buttons = new Map<string, HTMLButtonElement>();
  const run: PersonaActions['run'] = async (name, params, done, { withinMs, undo = null } = {}) => {
    if (!hasToken()) {
      undoLine.show('Enter the token first.', 'not');
      needToken();
      return false;
    }
    try {
      const result = await runAction(name, params, withinMs);
      undoLine.show(typeof done === 'string' ? done : done(result), 'well', undo);
      return true;
    } catch (error) {
      if (error instanceof TokenNeededError) needToken();
      const words = error instanceof TokenNeededError ? 'Enter the token first.' : `Failed: ${formatError(error)}`;
      undoLine.show(words, 'not');
      return false;
    }
  };
  const createActionButton = (action: PersonaAction): HTMLButtonElement => {
    const attributes: Readonly<Record<string, string>> = action.main === true ? { class: 'main' } : {};
    const button = createButton(
      action.title,
      async () => {
        button.setAttribute('aria-busy', 'true');
        await run(action.name, action.params, action.done);
        button.removeAttribute('aria-busy');
      },
      attributes,
    );
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
        if (document.activeElement === button) menu.querySelector('button')?.focus();
        button.remove();
        buttons.delete(key);
      }
      const places = [
        [main, actions.filter((action) => action.main === true)],
        [menu, actions.filter((action) => action.main !== true)],
      ] as const;
      for (const [place, placed] of places) {
        for (const [i, action] of placed.entries()) {
          const button = buttons.get(action.key) ?? createActionButton(action);
          buttons.set(action.key, button);
          if (place.children[i] !== button) place.insertBefore(button, place.children[i] ?? null);
        }
      }
    },
  };
}

function listActions(persona: PersonaWire): readonly PersonaAction[] {
  const target = { persona: persona.id };
  const muted = persona.muted !== null;
  return [
    { key: 'open', title: 'Open session', name: 'open', params: target, done: formatOpened, main: true },
    { key: 'poll', title: 'Poll now', name: 'poll', params: target, done: 'Polling.' },
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
