import type { Instant } from '../model/index.ts';
import type { DirectoryMember, PersonaDirectory } from '../sources/index.ts';

/**
 * What was observed of one address, exactly as spelled: `Ada` and `ada` are two inboxes (Kijito contract, trap 43).
 * Times are wall clock.
 */
export interface AddressActivity {
  /** The newest message that names this address as its sender. */
  readonly sent: { readonly id: number; readonly at: Instant } | null;
  /** The unread count went down, so somebody read mail there, while `after` was the newest known message. */
  readonly read: { readonly after: number; readonly at: Instant } | null;
}

export const NO_ACTIVITY: AddressActivity = { sent: null, read: null };

/** Merges what two watchers saw of one address. For the same message, the earlier time counts. */
export function mergeActivity(a: AddressActivity, b: AddressActivity): AddressActivity {
  return { sent: findLater(a.sent, b.sent, (sent) => sent.id), read: findLater(a.read, b.read, (read) => read.after) };
}

function findLater<T extends { readonly at: Instant }>(
  a: T | null,
  b: T | null,
  id: (evidence: T) => number,
): T | null {
  if (a === null || b === null) return a ?? b;
  return id(a) > id(b) || (id(a) === id(b) && a.at <= b.at) ? a : b;
}

/** Who reads an inbox, according to the directory and to our own observations. */
export type ReaderKind =
  /** A member that somebody works as, as far as we know. */
  | 'member'
  /** Nobody is expected to read here now: the member is retired, collected in another way, or was read once and owns nothing. */
  | 'dormant'
  /** There is no sign that anybody ever read here. */
  | 'none'
  /** The address is not in the directory. */
  | 'unlisted';

/** An unknown memory count is no answer, and no answer never means "nobody" (Kijito contract, trap 48). */
export function classifyReader(address: string, directory: PersonaDirectory, activity: AddressActivity): ReaderKind {
  const member = directory.byAddress.get(address);
  if (member?.retired || member?.writeOnly) return 'dormant';
  if (activity.sent !== null || activity.read !== null) return 'member';
  if (member === undefined) return 'unlisted';
  if (member.memories !== 0) return 'member';
  return hasReadMail(member) ? 'dormant' : 'none';
}

function hasReadMail({ mail }: DirectoryMember): boolean {
  return mail !== null && mail.unread < mail.total;
}
