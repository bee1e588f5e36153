import { formatIso, type Instant } from '../../model/index.ts';
import { parseMessageHead } from './internet-message.ts';
import type { MailLayout, ParsedMessage } from './layout.ts';

/** Larger files are counted and not opened. Of any other the beginning is read. */
const MOST_BYTES = 64 * 1024 * 1024;

const PLAIN = {
  mailboxes: '',
  always: [],
  isMailbox: () => true,
  formatLabel: (address: string) => address,
  deliversPassing: false,
  mostBytes: MOST_BYTES,
  isUrgent: ({ priority }) => priority === 'urgent',
  isReplaced: false,
} satisfies Partial<MailLayout>;

/** A file name of a Maildir begins with the time of delivery, in seconds. */
const SECONDS = /^(\d{1,11})[._]/;
/** What a mail program appends to the name when it moves or marks the message. */
const FLAGS = /[:;!]2,([A-Za-z]*)$/;

/** `FOLDER/PERSONA/{new,cur}`, as mail servers deliver: a message in `cur` with the flag S was read. */
export const maildirLayout: MailLayout = {
  ...PLAIN,
  name: 'maildir',
  ...{ arriving: 'new', claimed: 'cur', needsArriving: true, isWhole: true },
  parseName(name, isClaimed) {
    const flags = FLAGS.exec(name);
    const key = flags === null ? name : name.slice(0, flags.index);
    if (key === '') return null;
    const isRead = isClaimed && /[ST]/.test(flags?.[1] ?? '');
    return { key, isRead };
  },
  async parse(head) {
    const seconds = SECONDS.exec(head.name)?.[1];
    const { from, subject, date, isUrgent, text } = await parseMessageHead(head.bytes);
    const at = date ?? (seconds === undefined ? null : Number(seconds) * 1000);
    const extra = { ...(subject === null ? {} : { subject }), ...(isUrgent ? { priority: 'urgent' } : {}) };
    return { appeared: 'new', from, ...toCreated(at), content: text, extra };
  },
};

const FLAT_NAME = /\.(?:md|txt|json)$/i;
const JSON_NAME = /\.json$/i;
const HEADING = /^#{1,6}[ \t]+(.+)$/;

/** What a JSON file of the flat layout says of itself. */
export type JsonMessageParser = (text: string) => ParsedMessage | null;

/**
 * `FOLDER/PERSONA/*.{md,txt,json}`: a file that is there is unread. Nobody has to rename it into place: it counts as complete when it
 * stood still for a moment.
 */
export function createFlatLayout(parseJsonMessage: JsonMessageParser): MailLayout {
  return {
    ...PLAIN,
    name: 'flat',
    ...{ arriving: '', claimed: null, needsArriving: false, isWhole: false },
    parseName: (name) => (FLAT_NAME.test(name) ? { key: name, isRead: false } : null),
    parse(head) {
      const text = new TextDecoder().decode(head.bytes);
      if (JSON_NAME.test(head.name)) return head.isCut ? null : parseJsonMessage(text);
      const [first = ''] = text.trimStart().split('\n', 1);
      const subject = HEADING.exec(first.trim())?.[1];
      const extra = subject === undefined ? {} : { subject };
      return { appeared: 'new', from: null, ...toCreated(null), content: text.trim(), extra };
    },
  };
}

function toCreated(at: Instant | null): Pick<ParsedMessage, 'created' | 'order'> {
  if (at === null) return { created: null, order: [0, 0] };
  const seconds = Math.floor(at / 1000);
  return { created: formatIso(at), order: [seconds, Math.round((at - seconds * 1000) * 1e6)] };
}
