import { Fault } from '../../core/model/index.ts';
import type { ClickTarget, Opener, OpenUrl } from './opener.ts';

export interface PageOpenerNeeds {
  /** The address of what was clicked. It may carry a one-time code. */
  readonly createUrl: (opens: ClickTarget) => string | Promise<string>;
  /** The one our server listens on. */
  readonly port: number;
  /** Puts an address where only its owner can read it, and returns the URL of that place. */
  readonly conceal: (address: string) => string;
  readonly openUrl: OpenUrl;
}

/**
 * Opens the status page in the person's browser. Nothing but our own page on loopback is ever handed to the desktop, and its
 * address never stands in the arguments of a program.
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

/** `http://127.0.0.1:PORT/...` or `http://[::1]:PORT/...`, spelled exactly so, without a user name. */
export function isOurPage(url: string, port: number): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname, port: urlPort, username, password, href } = new URL(url);
  return (
    protocol === 'http:' &&
    (hostname === '127.0.0.1' || hostname === '[::1]') &&
    Number(urlPort === '' ? 80 : urlPort) === port &&
    username === '' &&
    password === '' &&
    href === url // no second spelling: what was checked is what is opened
  );
}
