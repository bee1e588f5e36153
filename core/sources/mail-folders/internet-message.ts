import type { Address, Email } from 'postal-mime';
import { type Instant, parseTimestamp } from '../../model/index.ts';

/** What is shown of a mail as programs send them over the internet (RFC 5322 and MIME). None of it is cleaned or cut. */
export interface InternetMessage {
  readonly from: string | null;
  readonly subject: string | null;
  readonly date: Instant | null;
  readonly isUrgent: boolean;
  readonly text: string;
}

/** No honest mail is nested deeper, and a hostile one costs little. */
const LIMITS = { maxNestingDepth: 16, maxHeadersSize: 64 * 1024, maxRfc822NestingDepth: 2 };

/** Parses the beginning of a mail. The text may be cut, and whatever it is, there is an answer. */
export async function parseMessageHead(bytes: Uint8Array): Promise<InternetMessage> {
  const { default: PostalMime } = await import('postal-mime');
  try {
    return toInternetMessage(await PostalMime.parse(bytes, LIMITS));
  } catch {
    return { ...NOTHING_READ, text: new TextDecoder().decode(bytes) }; // beyond a limit
  }
}

const NOTHING_READ: InternetMessage = { from: null, subject: null, date: null, isUrgent: false, text: '' };

function toInternetMessage({ from, subject, date, text, html, headers }: Email): InternetMessage {
  const getHeader = (key: string): string =>
    headers
      .find((header) => header.key === key)
      ?.value.trim()
      .toLowerCase() ?? '';
  const isUrgent =
    /^[12]\b/.test(getHeader('x-priority')) || getHeader('importance') === 'high' || getHeader('priority') === 'urgent';
  return {
    from: formatAddress(from),
    subject: subject?.trim() || null,
    date: date === undefined ? null : parseTimestamp(date),
    isUrgent,
    text: (text ?? removeTags(html ?? '')).trim(),
  };
}

/** The first sender: `NAME <ADDRESS>`, or what there is of it. */
function formatAddress(address: Address | undefined): string | null {
  if (address === undefined) return null;
  const { name, address: mail } = address.group?.[0] ?? address;
  if (!mail) return name || null;
  return name ? `${name} <${mail}>` : mail;
}

/** The words of a page, for a mail that has no other text. It is shown as text, so tags need not be understood. */
function removeTags(html: string): string {
  let text = '';
  for (let at = 0; at < html.length; ) {
    const open = html.indexOf('<', at);
    text += html.slice(at, open === -1 ? html.length : open);
    const close = open === -1 ? -1 : html.indexOf('>', open);
    if (close === -1) break;
    at = close + 1;
  }
  return text;
}
