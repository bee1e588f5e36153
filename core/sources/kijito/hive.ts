import { Fault, type Scope } from '../../model/index.ts';

/** The URLs of a hive. `single` is a `--url`: one inbox, without directory and pending list. */
export type Hive =
  | { readonly is: 'hive'; readonly personas: URL; readonly pending: URL; inbox(address: string): URL }
  | { readonly is: 'single'; inbox(address: string): URL };

/**
 * The URLs of the hive at `base`, which may have a path (Kijito contract a).
 * @throws Fault `bad-url` when it is no URL, or has a query or a fragment
 */
export function parseHiveUrl(base: string, scope: Scope): Hive {
  const root = URL.parse(base);
  if (root === null) throw new Fault('bad-url', `${JSON.stringify(base)} is not a URL`, scope);
  if (root.search !== '' || root.hash !== '') {
    throw new Fault('bad-url', `the base of a hive has neither query nor fragment: ${JSON.stringify(base)}`, scope);
  }
  const buildUrl = (path: string): URL => {
    const url = new URL(root);
    url.pathname = root.pathname.replace(/\/+$/, '') + path;
    return url;
  };
  return {
    is: 'hive',
    personas: buildUrl('/api/personas'),
    pending: buildUrl('/api/notify/pending'),
    inbox: (address) => {
      const url = buildUrl('/api/inbox');
      url.search = `?persona=${encodeURIComponent(address.toWellFormed())}&mark_read=false`;
      return url;
    },
  };
}

/**
 * The one inbox of a `--url`. Requests always say `mark_read=false`, whatever the user wrote, because polls never consume.
 * @throws Fault `bad-url` when it is no URL
 */
export function parseInboxUrl(text: string, scope: Scope): Hive {
  const url = URL.parse(text);
  if (url === null) throw new Fault('bad-url', `${JSON.stringify(text)} is not a URL`, scope);
  url.hash = '';
  url.searchParams.delete('mark_read');
  url.searchParams.append('mark_read', 'false');
  return { is: 'single', inbox: () => new URL(url) };
}
