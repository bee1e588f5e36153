import type { PersonaWire } from '../app/status/wire.ts';
import { act, hasToken, TokenNeeded } from './token.ts';

/** What can be done with one inbox, each by `POST /api/v1/actions/NAME`. */
export interface Acts {
  /** Shows what can be done with it as it stands. */
  draw(persona: PersonaWire): void;
  /** Does it and says how it went. `done`: in words, when it went well. False: it was not done. */
  run(name: string, params: object, done: Act['done']): Promise<boolean>;
}

interface Act {
  readonly key: string;
  readonly title: string;
  readonly name: string;
  readonly params: object;
  /** Words for what was done, or what makes them from the answer. */
  readonly done: string | ((result: unknown) => string);
  readonly main?: boolean;
}

export function startActs(place: HTMLElement, words: HTMLElement, needToken: () => void): Acts {
  const buttons = new Map<string, HTMLButtonElement>();
  const said = (text: string, look: 'well' | 'not'): void => {
    words.dataset.look = look;
    words.textContent = text;
  };
  const run: Acts['run'] = async (name, params, done) => {
    if (!hasToken()) {
      said('The token is needed for this.', 'not');
      needToken();
      return false;
    }
    try {
      const result = await act(name, params);
      said(typeof done === 'string' ? done : done(result), 'well');
      return true;
    } catch (error) {
      if (error instanceof TokenNeeded) needToken();
      said(error instanceof TokenNeeded ? 'The token is needed for this.' : `Not done: ${messageOf(error)}`, 'not');
      return false;
    }
  };
  const buttonOf = (one: Act): HTMLButtonElement => {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = one.title;
    if (one.main === true) button.className = 'main';
    button.addEventListener('click', async () => {
      button.setAttribute('aria-busy', 'true');
      await run(one.name, one.params, one.done);
      button.removeAttribute('aria-busy');
    });
    return button;
  };
  return {
    run,
    draw(persona) {
      const wanted = actsOf(persona);
      const keys = new Set(wanted.map(({ key }) => key));
      for (const [key, button] of buttons) {
        if (keys.has(key)) continue;
        // who has just pressed it keeps a place to go on from
        if (document.activeElement === button) place.querySelector('button')?.focus();
        button.remove();
        buttons.delete(key);
      }
      for (const [i, one] of wanted.entries()) {
        const button = buttons.get(one.key) ?? buttonOf(one);
        buttons.set(one.key, button);
        if (place.children[i] !== button) place.insertBefore(button, place.children[i] ?? null);
      }
    },
  };
}

function actsOf(persona: PersonaWire): readonly Act[] {
  const who = { persona: persona.id };
  const muted = persona.muted !== null;
  const all: readonly (Act | null)[] = [
    { key: 'open', title: 'Open session', name: 'open', params: who, done: formatOpened, main: true },
    { key: 'poll', title: 'Poll now', name: 'poll', params: who, done: 'Polling.' },
    persona.canMarkRead && (persona.unread ?? 0) > 0
      ? { key: 'read', title: 'Mark all as read', name: 'read', params: who, done: 'Marked as read.' }
      : null,
    ...(muted
      ? [{ key: 'unmute', title: 'Unmute', name: 'unmute', params: who, done: 'Not muted any more.' }]
      : [
          { key: 'hour', title: 'Mute 1 h', name: 'mute', params: { ...who, minutes: 60 }, done: 'Muted for an hour.' },
          {
            key: 'tomorrow',
            title: 'Mute until tomorrow',
            name: 'mute',
            params: { ...who, until: 'tomorrow' },
            done: 'Muted until tomorrow.',
          },
          { key: 'ever', title: 'Mute for ever', name: 'mute', params: who, done: 'Muted for ever.' },
        ]),
    persona.hidden
      ? { key: 'unhide', title: 'Show again', name: 'unhide', params: who, done: 'Shown again.' }
      : { key: 'hide', title: 'Hide', name: 'hide', params: who, done: 'Hidden: find it by the filter Hidden.' },
  ];
  return all.filter((one) => one !== null);
}

/** What `open` says it opened. */
function formatOpened(result: unknown): string {
  switch ((result as { readonly opened?: unknown } | null)?.opened) {
    case 'page':
      return 'There is no session to open: its page was opened.';
    case 'none':
      return 'The session is just being opened.';
    default:
      return 'Session opened.';
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
