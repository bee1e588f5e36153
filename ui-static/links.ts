import { createElement } from './element.ts';

/** What looks like a web address, in the characters that one can have. Anything else ends it. */
const ADDRESS = /\bhttps?:\/\/[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]+/g;
/** A sentence goes on, or ends, after an address. */
const AFTER = /[.,;:!?'*]+$|\)+$/;

/** Appends text, with its web addresses as links. A link opens in a tab that knows nothing of this page. */
export function appendLinkedText(place: Element, text: string): void {
  let from = 0;
  for (const match of text.matchAll(ADDRESS)) {
    const address = trimEnd(match[0]);
    const url = parseAddress(address);
    if (url === null) continue;
    appendPlain(place, text.slice(from, match.index));
    place.append(createElement('a', { href: url, title: url, target: '_blank', rel: 'noreferrer noopener' }, address));
    from = match.index + address.length;
  }
  appendPlain(place, text.slice(from));
}

/** A browser takes many seconds for a line of one word of 100,000 characters, so a long word may break where it is cheap. */
const LONG_WORD = /\S{500}/g;

function appendPlain(place: Element, text: string): void {
  let from = 0;
  for (const { index, 0: part } of text.matchAll(LONG_WORD)) {
    const end = index + part.length;
    place.append(text.slice(from, end), createElement('wbr'));
    from = end;
  }
  place.append(text.slice(from));
}

/** An address in brackets ends before the last one. */
function trimEnd(address: string): string {
  const isOpen = address.split('(').length >= address.split(')').length;
  const shorter = address.replace(isOpen ? /[.,;:!?'*]+$/ : AFTER, '');
  return shorter === address ? address : trimEnd(shorter);
}

/** A name before an @ is no part of the host, and looks like one. */
function parseAddress(address: string): string | null {
  if (!URL.canParse(address)) return null;
  const url = new URL(address);
  return url.username === '' && url.password === '' ? url.href : null;
}
