import type { Instant } from '../model/index.ts';
import type { DirectoryMember, PersonaDirectory } from '../sources/index.ts';

/** What was observed of one address, exactly as it is spelled: `Ada` and `ada` are two inboxes (Kijito contract, trap 43). Times are wall clock. */
export interface AddressActivity {
  /** The newest message that names it as the sender. */
  readonly sent: { readonly id: number; readonly at: Instant } | null;
  /** Its unread count went down: somebody read mail there, when `after` was the newest message known. */
  readonly read: { readonly after: number; readonly at: Instant } | null;
}

export const NO_ACTIVITY: AddressActivity = { sent: null, read: null };

/** What two watches saw of one address. Of the same message, whoever saw it first knows when. */
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

/** What the directory and our own eyes say of who reads an inbox. */
export type ReaderKind =
  /** A member that somebody works as, as far as is known. */
  | 'member'
  /** Nobody is meant to look here now: retired, collected in another way, or it was read once and owns nothing. */
  | 'dormant'
  /** Nothing says that anybody ever looked. */
  | 'none'
  /** It is not in the directory. */
  | 'unlisted';

/** An unknown memory count is no answer, and no answer is never "nobody" (Kijito contract, trap 48). */
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
