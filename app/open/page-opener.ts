import { Fault, type PersonaId } from '../../core/model/index.ts';

interface PageOpenerNeeds {
  /** Returns the address of the click's target. It may contain a one-time code. */
  readonly createUrl: (opens: ClickTarget) => string | Promise<string>;
  /** The port of our server. */
  readonly port: number;
  /** Writes the address into a file that only its owner can read, and returns the URL of that file. */
  readonly conceal: (address: string) => string;
  readonly openUrl: OpenUrl;
}

/**
 * Opens the status page in the person's browser. The desktop is only ever given our own page on loopback, and its address is
 * never in the arguments of a program.
 */
export function createPageOpener({ createUrl, port, conceal, openUrl }: PageOpenerNeeds): Opener {
  return {
    name: 'page',
    open: async ({ opens, activationToken }) => {
      const url = await createUrl(opens);
      if (!isOurPage(url, port)) {
        throw new Fault('internal', `not an address of the status page: ${url}`, { is: 'machine', key: 'open' });
      }
      await openUrl(conceal(url), activationToken);
      return 'page';
    },
  };
}

/** Matches `http://127.0.0.1:PORT/...` or `http://[::1]:PORT/...` in exactly this spelling, without a user name. */
export function isOurPage(url: string, port: number): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname, port: urlPort, username, password, href } = new URL(url);
  return (
    protocol === 'http:' &&
    (hostname === '127.0.0.1' || hostname === '[::1]') &&
    Number(urlPort === '' ? 80 : urlPort) === port &&
    username === '' &&
    password === '' &&
    href === url // only one spelling: what was checked is what is opened
  );
}

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
