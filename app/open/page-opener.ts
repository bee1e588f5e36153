import { Fault } from '../../core/model/index.ts';
import type { Opener, Opens, OpenUrl } from './opener.ts';

/**
 * Opens the status page in the person's browser. `urlOf` gives the address of what was clicked, `port` is the one our
 * server listens on: nothing but our own page on loopback is ever handed to the desktop.
 */
export function pageOpener(urlOf: (opens: Opens) => string | Promise<string>, port: number, openUrl: OpenUrl): Opener {
  return {
    name: 'page',
    open: async ({ opens, activationToken }) => {
      const url = await urlOf(opens);
      if (!isOurPage(url, port)) {
        throw new Fault('internal', `not an address of the status page: ${url}`, { is: 'machine', key: 'open' });
      }
      await openUrl(url, activationToken);
    },
  };
}

/** `http://127.0.0.1:PORT/...` or `http://[::1]:PORT/...`, spelled exactly so, without a user name. */
export function isOurPage(url: string, port: number): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname, port: given, username, password, href } = new URL(url);
  return (
    protocol === 'http:' &&
    (hostname === '127.0.0.1' || hostname === '[::1]') &&
    Number(given === '' ? 80 : given) === port &&
    username === '' &&
    password === '' &&
    href === url // no second spelling: what was checked is what is opened
  );
}
