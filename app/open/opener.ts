import type { PersonaId } from '../../core/model/index.ts';

/** Where a click leads. */
export type ClickTarget = { readonly is: 'persona'; readonly persona: PersonaId } | { readonly is: 'overview' };

/** A click: what it is about, and the desktop's leave to raise a window, where it gave one. */
export interface Click {
  readonly opens: ClickTarget;
  readonly activationToken: string | null;
}

/** What a click opened. `none`: nothing, because the session is just being opened. */
export type OpenResult = 'tmux' | 'terminal' | 'command' | 'url' | 'page' | 'none';

/** One way to open what a click is about. */
export interface Opener {
  readonly name: 'page' | 'session';
  /** @throws Fault `exec-failed` when nothing could be opened, `settings` when the settings ask for what is not done */
  open(click: Click): Promise<OpenResult>;
}

/** Hands a URL to the desktop. @throws Fault `exec-failed` */
export type OpenUrl = (url: string, activationToken: string | null) => Promise<void>;
