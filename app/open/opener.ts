import type { PersonaId } from '../../core/model/index.ts';

/** What a click opens. */
export type ClickTarget = { readonly is: 'persona'; readonly persona: PersonaId } | { readonly is: 'overview' };

/** A click, with its target and, where the desktop gave one, its permission to raise a window. */
export interface Click {
  readonly opens: ClickTarget;
  readonly activationToken: string | null;
}

/** What a click opened. `none` means nothing, because the session is already being opened. */
export type OpenResult = 'tmux' | 'terminal' | 'command' | 'url' | 'page' | 'none';

/** One way to open the target of a click. */
export interface Opener {
  readonly name: 'page' | 'session';
  /**
   * @throws Fault `exec-failed` when nothing could be opened, `settings` when the settings ask for something that is not allowed
   */
  open(click: Click): Promise<OpenResult>;
}

/** Hands a URL to the desktop. @throws Fault `exec-failed` */
export type OpenUrl = (url: string, activationToken: string | null) => Promise<void>;
